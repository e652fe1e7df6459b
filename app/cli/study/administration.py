"""`topkapi study` commands of administration: settings, access, work, adjudication, copies."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topkapi.app.cli.common import AsJson, Slug, open_sessions, say, table
from topkapi.app.cli.failures import Refused
from topkapi.app.cli.running import RUNNING
from topkapi.app.cli.study.work import work_lines
from topkapi.app.domain.enums import Tool

if TYPE_CHECKING or RUNNING:
    from sqlalchemy.orm import Session

    from topkapi.app.db.models import Study
    from topkapi.app.db.queries.assignments.manual_assignment import matching_ids
    from topkapi.app.db.queries.studies.studies import required_study, researchers_of
    from topkapi.app.services.accounts.users import user_of_email
    from topkapi.app.services.assignments import adjudication, bulk
    from topkapi.app.services.assignments.records import NamedWork, named_work
    from topkapi.app.services.assignments.steps import spec_of
    from topkapi.app.services.studies import edit_study, full_copy, lifecycle
    from topkapi.app.services.studies.lifecycle import set_access

commands = typer.Typer()

Assessor = Annotated[str, typer.Option("--from", help="E-mail of the assessor.")]
Queries = Annotated[
    list[str] | None, typer.Option("--query", help="Only this query; repeat for several.")
]
ToolOption = Annotated[Tool | None, typer.Option(help="Only this tool.")]


@commands.command(epilog="Example: topkapi study settings everyday-questions --set idle_seconds=90")
def settings(
    slug: Slug,
    change: Annotated[
        list[str] | None,
        typer.Option("--set", help="NAME=VALUE with a JSON value; repeat for several."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the settings of a study, or change some of them."""
    given = dict(_setting(each) for each in change or [])
    name = given.pop("name", None)
    with open_sessions() as sessions, sessions.write.begin() as session:
        study = required_study(session, slug)
        if given or name is not None:
            edit_study.change_study(session, study, name=name, settings=given or None)
        stored = {"name": study.name, **study.settings.as_json()}
    lines = (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in stored.items())
    say(as_json, {"slug": slug, **stored}, "\n".join(lines))


def _setting(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign:
        raise Refused(f"--set: {text!r} is not NAME=VALUE")
    try:
        return name.strip(), json.loads(value)
    except ValueError:
        return name.strip(), value.strip()


@commands.command(
    epilog="Example: topkapi study access everyday-questions --give researcher@demo.example"
)
def access(
    slug: Slug,
    give: Annotated[
        list[str] | None,
        typer.Option(help="E-mail of a researcher to grant access to; repeatable."),
    ] = None,
    take: Annotated[
        list[str] | None,
        typer.Option(help="E-mail of a researcher to revoke access from; repeatable."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Grant or revoke researchers' access to a study, and list who has it."""
    with open_sessions() as sessions, sessions.write.begin() as session:
        study = required_study(session, slug)
        for given, emails in ((True, give), (False, take)):
            for email in emails or ():
                set_access(session, study, user_of_email(session, email), given=given)
        people = researchers_of(session, study.id)
    rows = [(each.email, each.name) for each in people]
    facts = [{"email": each.email, "name": each.name} for each in people]
    none = "no researchers; administrators see every study"
    say(as_json, facts, table(("e-mail", "name"), rows) if rows else none)


@commands.command(
    epilog="Example: topkapi study withdraw everyday-questions --from emma@demo.example"
)
def withdraw(
    slug: Slug,
    assessor: Assessor,
    query: Queries = None,
    tool: ToolOption = None,
    as_json: AsJson = False,
) -> None:
    """Withdraw an assessor's unfinished work (answers so far are kept)."""
    with open_sessions() as sessions, sessions.write.begin() as session:
        study = required_study(session, slug)
        ids = _chosen(session, study, assessor, query, tool, "open")
        rows = named_work(session, study.id, map(spec_of, bulk.withdraw(session, study, ids)))
    _say_work(as_json, slug, rows, "withdrawn")


@commands.command(
    epilog="Example: topkapi study reassign everyday-questions --from deniz@demo.example "
    "--query swim --to bruno@demo.example"
)
def reassign(
    slug: Slug,
    assessor: Assessor,
    to: Annotated[
        str, typer.Option(help="E-mail of the new assessor.", show_default="everyone free")
    ] = "",
    query: Queries = None,
    tool: ToolOption = None,
    as_json: AsJson = False,
) -> None:
    """Reassign an assessor's unfinished work to one person, or evenly to the others."""
    with open_sessions() as sessions, sessions.write.begin() as session:
        study = required_study(session, slug)
        ids = _chosen(session, study, assessor, query, tool, "open")
        made = bulk.reassign(session, study, ids, to)
        rows = named_work(session, study.id, map(spec_of, made))
    _say_work(as_json, slug, rows, "reassigned to:" if rows else "reassigned")


@commands.command(
    epilog="Example: topkapi study void everyday-questions --from deniz@demo.example "
    "--reason 'one side'"
)
def void(
    slug: Slug,
    assessor: Assessor,
    reason: Annotated[str, typer.Option(help="Reason, recorded in the audit log.")] = "",
    undo: Annotated[bool, typer.Option("--undo", help="Count voided work again.")] = False,
    query: Queries = None,
    tool: ToolOption = None,
    as_json: AsJson = False,
) -> None:
    """Exclude an assessor's finished work from consensus and report (it is kept)."""
    with open_sessions() as sessions, sessions.write.begin() as session:
        study = required_study(session, slug)
        ids = _chosen(session, study, assessor, query, tool, "void" if undo else "finished")
        if undo:
            made = bulk.restore(session, study, ids)
        else:
            made = bulk.void(session, study, ids, reason=reason)
        rows = named_work(session, study.id, map(spec_of, made))
    _say_work(as_json, slug, rows, "restored" if undo else "voided")


@commands.command(epilog="Example: topkapi study adjudicate everyday-questions --query bread")
def adjudicate(
    slug: Slug,
    query: Annotated[str, typer.Option(help="The query to assign.")] = "",
    to: Annotated[str, typer.Option(help="E-mail of the adjudicator.")] = "",
    as_json: AsJson = False,
) -> None:
    """List queries with disagreement, or assign the open pairs of one to a person."""
    if bool(query) != bool(to):
        raise Refused("--query and --to belong together; without both, the queries are listed")
    with open_sessions() as sessions, sessions.write.begin() as session:
        study = required_study(session, slug)
        if query:
            made = adjudication.assign_adjudication(session, study, query=query, email=to)
            facts = {"study": slug, "query": query, "open_pairs": len(made.plan["pairs"])}
            say(as_json, facts, f"{slug}: {facts['open_pairs']} pairs of {query} assigned to {to}")
            return
        disputes = adjudication.disagreements(session, study)
    rows = [_disagreement(each) for each in disputes.queries]
    lines = [
        f"  {row['query']:<20} {row['disagreement']:.0%} disagreement of {row['lists']} lists, "
        f"{row['open_pairs']} open pairs"
        for row in rows
    ]
    noun = "query" if disputes.total == 1 else "queries"
    head = f"{slug}: {disputes.total} {noun} with lists that disagree"
    say(
        as_json,
        {"study": slug, "total": disputes.total, "queries": rows},
        "\n".join([head, *lines]),
    )


def _disagreement(each: adjudication.Disagreement) -> dict[str, Any]:
    return {
        "query": each.query,
        "lists": each.lists,
        "disagreement": each.share,
        "open_pairs": len(each.pairs),
        "adjudicators": [person.name for person in each.adjudicators],
    }


@commands.command(epilog="Example: topkapi study copy everyday-questions --out copy.zip")
def copy(
    slug: Slug,
    out: Annotated[Path, typer.Option(help="File to write.")],
    as_json: AsJson = False,
) -> None:
    """Write a full copy of a study, as required before deleting it."""
    with open_sessions() as sessions:
        made = full_copy.copy_study(sessions, slug, out)
    facts = {"study": slug, "file": str(out), "bytes": made.size, "sha256": made.sha256}
    say(as_json, {**facts, "rows": made.rows}, f"{made.size} bytes written to {out}")


@commands.command(
    epilog="Example: topkapi study delete everyday-questions --confirm everyday-questions"
)
def delete(
    slug: Slug,
    confirm: Annotated[str, typer.Option(help="The slug again, to prevent mistakes.")],
    as_json: AsJson = False,
) -> None:
    """Delete an archived study that has a current full copy."""
    with open_sessions() as sessions, sessions.write.begin() as session:
        study = required_study(session, slug)
        rows = lifecycle.delete_study(session, study, confirm=confirm)
    say(as_json, {"study": slug, "rows": rows}, f"{slug} is deleted")


def _say_work(as_json: bool, slug: str, rows: list[NamedWork], verb: str) -> None:
    data = {"study": slug, "work": [asdict(row) for row in rows]}
    say(as_json, data, "\n".join(work_lines(slug, rows, verb)))


def _chosen(
    session: Session,
    study: Study,
    assessor: str,
    wanted: list[str] | None,
    tool: Tool | None,
    state: str,
) -> list[int]:
    """Return the ids of the assessor's assignments in ``state``, of all or some queries."""
    user = user_of_email(session, assessor)
    names: list[str | None] = [*wanted] if wanted else [None]
    ids = [
        number
        for name in names
        for number in matching_ids(
            session, study.id, user_id=user.id, query=name, tool=tool, state=state
        )
    ]
    if not ids:
        of = " of these queries or this tool" if wanted or tool else ""
        raise Refused(f"{assessor} has no {state} work{of} in {study.slug!r}")
    return ids
