"""The prior of a study: a ranker's scores in a TREC run, stored as a feature of the candidates."""

from dataclasses import replace

from topkapi.app.domain.study import StudySettings
from topkapi.app.services.importing.bundle import Layout
from topkapi.app.services.importing.kinds.base import SideFile
from topkapi.app.services.importing.kinds.rankings import run_entries
from topkapi.app.services.importing.records.types import CandidateRecord
from topkapi.app.services.importing.sources.reader import Reader
from topkapi.app.services.values import shown

Key = tuple[str, str]  # query and document
PRIOR = "prior"  # name of the file, of the field and of the feature


class PriorFile(SideFile):
    """The run of a ranker; its scores become a feature, which the setting of this name uses."""

    role, one, many = PRIOR, "prior", "priors"
    names = frozenset({PRIOR})
    added_as = "prior.run"
    hint = "Scores of a ranker, a TREC run, that help the sorter robust to choose its questions."

    def settings_with(self, settings: StudySettings) -> StudySettings:
        """Use the scores, unless the settings name another feature."""
        return settings if settings.prior else replace(settings, prior=PRIOR)


def prior_scores(layout: Layout, reader: Reader) -> dict[Key, float]:
    """Return the scores of the study's prior by query and document; none without such a file."""
    scores: dict[Key, float] = {}
    for path in layout.files.get(PRIOR, ()):
        for location, ((query, _), (negated, _, document)) in run_entries(reader, path):
            if (query, document) in scores:
                problem = f"{shown(document)} appears twice for query {shown(query)}."
                reader.problems.add(location, "document", problem, "Give the run of one ranker.")
            scores[query, document] = -negated
    return scores


def with_score(record: CandidateRecord, scores: dict[Key, float]) -> CandidateRecord:
    """Return the candidate with its score as the feature `prior`, if it has one."""
    score = scores.get((record.query, record.document))
    if score is None:
        return record
    return record._replace(features={**(record.features or {}), PRIOR: score})


PRIOR_FILE = PriorFile()
