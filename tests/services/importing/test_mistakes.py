"""Each natural mistake gets one message first, which names cause, place and remedy."""

from pathlib import Path

import pytest

from tests.cases import each_case
from tests.services.importing.mistakes import MISTAKES, Mistake
from tests.services.importing.test_collections import antique
from tests.studies import small_study
from topkapi.app.services.importing import StudyRefused, open_source
from topkapi.app.services.importing.checking import check_study
from topkapi.app.services.importing.records.tables import DECODER
from topkapi.app.services.values import BadValue


def refusal_of(mistake: Mistake, folder: Path) -> StudyRefused:
    study = small_study(folder / "study")
    mistake.make(study)
    with pytest.raises(StudyRefused) as refused, open_source(study) as source:
        check_study(source)
    return refused.value


@each_case("mistake", MISTAKES)
def test_a_mistake_is_diagnosed_with_cause_place_and_remedy(
    mistake: Mistake, tmp_path: Path
) -> None:
    refused = refusal_of(mistake, tmp_path)
    cause, problems = refused.by_file()[0]
    first = cause or problems[0]
    assert str(first).startswith(f"{mistake.place}: "), str(first)
    assert mistake.cause in first.problem
    assert mistake.remedy in first.mend
    assert len(str(first)) < 400


def test_every_wrong_file_has_one_cause_at_most(tmp_path: Path) -> None:
    for mistake in MISTAKES:
        refused = refusal_of(mistake, tmp_path / mistake.name)
        files = [cause.file for cause in refused.causes]
        assert len(set(files)) == len(files)
        several = {each.file for each in refused.problems if _count(refused, each.file) > 1}
        assert several <= set(files)


def _count(refused: StudyRefused, file: str) -> int:
    return sum(each.file == file for each in refused.problems)


def test_a_collection_whose_files_do_not_fit_says_why(tmp_path: Path) -> None:
    folder = antique(tmp_path / "antique", queries=5, judged=4)
    (folder / "antique-test.qrel").write_text("".join(f"{n}_{n} 0 {n} 1\n" for n in range(4)))
    with pytest.raises(StudyRefused) as refused, open_source(folder) as source:
        check_study(source)
    (cause,) = refused.value.causes
    assert str(cause).startswith("antique-test.qrel: The columns look swapped")


class Name(str):
    """A name that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_a_field_that_appears_twice_among_many_is_found_in_linear_time() -> None:
    read = DECODER.object_pairs_hook
    assert read is not None
    many = 2000
    with pytest.raises(BadValue) as bad:
        read([(Name(f"f{number}"), 1) for number in [*range(many), many - 1]])
    assert bad.value.field == f"f{many - 1}"
    assert Name.compared < 10 * many
