"""Certificates: whether a machine may replace a person, bound to what was tested."""

from collections.abc import Sequence
from hashlib import sha256
from json import dumps

from sqlalchemy import Row, select
from sqlalchemy.orm import Session

import topkapi
from topkapi.analysis.errors import BadData
from topkapi.analysis.machines import Certificate, certificate
from topkapi.analysis.machines.alternative import EPSILON
from topkapi.analysis.report.study import ToolData
from topkapi.analysis.report.subjects.machines import MachineData, machines_at_work
from topkapi.app.db.base import now
from topkapi.app.db.models import Assignment, MachineCall, Query, Study, User
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Conflict, Invalid
from topkapi.app.domain.machines.prompts import BUILT_IN
from topkapi.app.services.machines.prompts import prompt_texts
from topkapi.app.services.results.exports import StudySource
from topkapi.app.services.results.reports.machines import machine_data


class Certificates:
    """A study with its machines, to issue certificates for."""

    def __init__(self, session: Session, slug: str) -> None:
        source = StudySource(session, slug)
        self._session, self._study = session, source.study
        self._found = machine_data(source, None, stated=False)

    def choices(self) -> list[tuple[str, Tool]]:
        """Return the machines that have judged, with each of their tools."""
        found = self._found
        if found is None:
            return []
        return [
            (found.study.assessors[machine], Tool(tool.name))
            for tool in found.study.tools
            for machine in machines_at_work(found, tool)
        ]

    def issue(self, machine: str, tool: Tool, epsilon: float = EPSILON) -> Certificate:
        """Test a machine, and return the certificate of what was tested and its result."""
        judged, known = self._found, self.choices()
        if judged is None or (machine, tool) not in known:
            offered = ", ".join(f"{name} ({each})" for name, each in known) or "none yet"
            raise Invalid(
                f"No machine {machine!r} has judged {self._study.slug} with {tool}; there is: "
                f"{offered}.",
                field="machine",
            )
        (data,) = (each for each in judged.study.tools if each.name == tool.value)
        number = judged.study.assessors.index(machine)
        try:
            test = judged.test(data, number, epsilon)
        except BadData as error:
            raise Conflict(f"No certificate: {error}.") from None
        model, prompt = _versions(self._session, self._study, machine, tool)
        versions = {
            "model": model,
            "prompt": prompt,
            "data": f"sha256:{_digest(judged, data, number)}",
            "program": f"topkapi {topkapi.__version__}",
        }
        day = now().date().isoformat()
        return certificate(test, question=tool.value, versions=versions, issued=day)


def _versions(session: Session, study: Study, machine: str, tool: Tool) -> tuple[str, str]:
    """Return the models and prompts that a machine's answers come from."""
    calls = _versions_used(session, study.id, machine, tool)
    if not calls:
        return f"{machine}, imported", "not known: its judgments were imported"
    models = {f"{row.model} ({row.version})" if row.version else row.model for row in calls}
    texts = {0: BUILT_IN[tool], **prompt_texts(session, study.id, tool)}
    prompts = [
        f"{tool} {f'version {number}' if number else 'built in'}, "
        f"sha256:{_sha(texts[number], study.guidelines)}"
        for number in sorted({row.prompt_number for row in calls})
    ]
    return "; ".join(sorted(models)), "; ".join(prompts)


def _digest(found: MachineData, tool: ToolData, machine: int) -> str:
    """Return a digest of the labels of people and the machine, with their queries and pages."""
    study, others = found.study, set(found.machines) - {machine}
    rows = [
        [who == machine, study.queries[each.query], study.documents[each.query], values.tolist()]
        for each in found.labels(tool)
        for who, values in zip(each.assessors.tolist(), each.values, strict=True)
        if who not in others
    ]
    return _sha(dumps(sorted(rows, key=lambda row: bool(row[0]))))


def _sha(*texts: str) -> str:
    return sha256("\0".join(texts).encode()).hexdigest()


def _versions_used(
    session: Session, study_id: int, machine: str, tool: Tool
) -> Sequence[Row[str, str, int]]:
    """Return model, its version and number of the prompt of a machine's answered calls."""
    statement = (
        select(MachineCall.model, MachineCall.version, MachineCall.prompt_number)
        .join(Assignment, Assignment.id == MachineCall.assignment_id)
        .join(Query, Query.id == Assignment.query_id)
        .join(User, User.id == Assignment.user_id)
        .where(
            Query.study_id == study_id,
            User.machine,
            User.name == machine,
            Assignment.tool == tool,
            MachineCall.answer.is_not(None),
        )
        .distinct()
    )
    return session.execute(statement).all()
