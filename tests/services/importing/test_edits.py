"""An import keeps what was edited in the study, or shows the difference and asks."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.factories import make_assignment, make_user
from tests.studies import STUDY, append, load, small_study
from topkapi.app.db.models import AuditEvent, Query, Study
from topkapi.app.domain.enums import Role
from topkapi.app.services import guideline_history
from topkapi.app.services.importing import (
    EditPolicy,
    StudyRefused,
    Unchanged,
    open_source,
    preview_study,
)
from topkapi.app.services.studies.edit_study import change_study

NEW_QUERY = '{"id": "q9", "text": "one more"}\n', '{"query": "q9", "document": "d0"}\n'


@pytest.fixture
def folder(session: Session, tmp_path: Path) -> Path:
    folder = small_study(tmp_path / "study")
    (folder / "guidelines.md").write_text("Look once.\n")
    load(session, folder)
    return folder


@pytest.fixture
def study(session: Session, folder: Path) -> Study:
    assert folder
    return session.scalars(select(Study)).one()


def grow(folder: Path) -> None:
    append(folder / "queries.jsonl", NEW_QUERY[0])
    append(folder / "candidates.jsonl", NEW_QUERY[1])


def edit(session: Session, study: Study, **given: Any) -> None:
    editor = make_user(session, role=Role.ADMIN, name="Bao Trinh")
    change_study(session, study, actor_id=editor.id, **given)


def change_both(session: Session, folder: Path, study: Study) -> None:
    """Edit name and guidelines in the study, and each in another way in the files."""
    edit(session, study, name="Edited", guidelines="Look twice.")
    (folder / "study.toml").write_text(STUDY.replace("Small study", "Third"))
    (folder / "guidelines.md").write_text("Look carefully.\n")


def test_edits_survive_an_import_that_adds_queries(
    session: Session, folder: Path, study: Study
) -> None:
    edit(
        session,
        study,
        name="Edited",
        guidelines="Look twice.",
        settings={"idle_seconds": 45, "k": 2},
    )
    grow(folder)
    report = load(session, folder)
    assert (study.name, study.guidelines) == ("Edited", "Look twice.")
    assert (study.settings.idle_seconds, study.settings.k) == (45, 2)
    assert report.new_queries == 1
    kept = {each.field: each.outcome for each in report.edits}
    assert kept == dict.fromkeys(("name", "guidelines", "idle_seconds", "k"), "kept")
    assert any("guidelines was edited in the study: the edit is kept" in x for x in report.lines())
    event = session.scalars(select(AuditEvent).where(AuditEvent.action == "study.extend")).one()
    assert event.detail["kept"] == "name, guidelines, k, idle_seconds"


def test_the_same_files_after_an_edit_contain_nothing_new(
    session: Session, folder: Path, study: Study
) -> None:
    edit(session, study, name="Edited")
    with pytest.raises(Unchanged, match="Edits made in the study are kept: name"):
        load(session, folder)


def test_what_only_the_files_changed_is_taken(session: Session, folder: Path, study: Study) -> None:
    edit(session, study, settings={"idle_seconds": 45})
    (folder / "guidelines.md").write_text("Look carefully.\n")
    (folder / "study.toml").write_text(STUDY + "allow_ties = false\n")
    load(session, folder)
    assert study.guidelines == "Look carefully.\n"
    assert (study.settings.allow_ties, study.settings.idle_seconds) == (False, 45)


def test_what_both_changed_is_refused_with_both_values_and_the_editor(
    session: Session, folder: Path, study: Study
) -> None:
    change_both(session, folder, study)
    with pytest.raises(StudyRefused) as refused:
        load(session, folder)
    name, guidelines = refused.value.problems
    assert (name.file, name.line, name.field) == ("study.toml", 1, "name")
    assert 'The name is "Third" here, but "Edited" in the study.' in name.problem
    assert "Bao Trinh changed it on the page Settings on " in name.problem
    assert "--edits keep" in name.mend
    assert (guidelines.file, guidelines.field) == ("guidelines.md", "guidelines")
    assert "changed it on the page Guidelines" in guidelines.problem
    assert study.name == "Edited"


@pytest.mark.parametrize(
    ("policy", "name", "guidelines"),
    [
        (EditPolicy("keep"), "Edited", "Look twice."),
        (EditPolicy("replace"), "Third", "Look carefully.\n"),
        (EditPolicy("keep", frozenset({"name"})), "Third", "Look twice."),
    ],
)
def test_a_decision_settles_it_for_later_imports_too(
    session: Session, folder: Path, study: Study, policy: EditPolicy, name: str, guidelines: str
) -> None:
    change_both(session, folder, study)
    load(session, folder, policy=policy)
    assert (study.name, study.guidelines) == (name, guidelines)
    grow(folder)
    load(session, folder)
    assert (study.name, study.guidelines) == (name, guidelines)


def test_a_preview_that_asks_lists_the_difference(
    session: Session, folder: Path, study: Study
) -> None:
    edit(session, study, guidelines="Look twice.\nThen choose.")
    (folder / "guidelines.md").write_text("Look carefully.\nThen choose.\n")
    with open_source(folder) as source:
        report = preview_study(session, source, policy=EditPolicy("ask"))
    (found,) = report.edits
    assert (found.field, found.both, found.outcome) == ("guidelines", True, "undecided")
    assert found.difference[1:] == ("-Look twice.", "+Look carefully.", " Then choose.")


def test_edited_settings_of_assigned_work_do_not_block_an_import(
    session: Session, folder: Path, study: Study
) -> None:
    edit(session, study, settings={"k": 2})
    make_assignment(session, query=session.scalars(select(Query)).first())
    grow(folder)
    load(session, folder)
    assert study.settings.k == 2


def test_a_refused_setting_is_named_with_both_values_and_its_last_change(
    session: Session, folder: Path, study: Study
) -> None:
    edit(session, study, settings={"k": 2, "allow_ties": False})
    make_assignment(session, query=session.scalars(select(Query)).first())
    (folder / "study.toml").write_text(STUDY.replace("k = 3", "k = 5") + "best_of = 3\n")
    grow(folder)
    with pytest.raises(StudyRefused) as refused:
        load(session, folder)
    k, best_of = refused.value.problems
    assert (k.file, k.line, k.field) == ("study.toml", 3, "k")
    assert "k is 5 here, but 2 in the study, and work is assigned under that." in k.problem
    assert "Bao Trinh changed it on the page Settings on " in k.problem
    assert "Write k = 2 in study.toml, import with --edits keep" in k.mend
    assert "best_of is 3 here, but 1 in the study" in best_of.problem
    assert "from its last import" in best_of.problem
    load(session, folder, policy=EditPolicy("keep"))
    assert (study.settings.k, study.settings.best_of) == (2, 1)
    with pytest.raises(StudyRefused, match="work is assigned"):
        load(session, folder, policy=EditPolicy("replace"))


def test_a_study_whose_last_import_is_unknown_asks(
    session: Session, folder: Path, study: Study
) -> None:
    study.imported = None
    study.guidelines = "Unknown."
    grow(folder)
    with pytest.raises(StudyRefused, match="guidelines of this file differ"):
        load(session, folder)
    load(session, folder, policy=EditPolicy("keep"))
    assert study.guidelines == "Unknown."


def test_guidelines_have_a_history(session: Session, folder: Path, study: Study) -> None:
    edit(session, study, guidelines="Look twice.")
    (folder / "guidelines.md").write_text("Look carefully.\n")
    load(session, folder, policy=EditPolicy("replace"))
    found = guideline_history.versions(session, study)
    assert [(each.number, each.text, each.source) for each, _ in found] == [
        (3, "Look carefully.\n", "import"),
        (2, "Look twice.", "edit"),
        (1, "Look once.\n", "import"),
    ]
    assert [who and who.name for _, who in found] == [None, "Bao Trinh", None]
    assert guideline_history.text_of_version(session, study, 2) == "Look twice."
