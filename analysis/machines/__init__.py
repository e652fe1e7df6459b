"""Machine assessors beside people: may they replace a person, and what are their labels good for?

``alternative_annotator_test`` compares a machine with each person, ``certificate`` records the
result. ``powered_mean`` and ``powered_systems`` score systems from few queries of people and many
of a machine. ``side_effects``, ``length_effects`` and ``length_board`` show biases,
``agreement_by_kind`` who agrees with whom, ``calibration`` what a stated confidence is worth.
``docs/machine-statistics.md`` has error rates.
"""

from topkapi.analysis.machines.alternative import (
    AlternativeTest,
    PersonComparison,
    alternative_annotator_test,
    votes_as_scores,
)
from topkapi.analysis.machines.calibration import Calibration, ConfidenceBin, calibration
from topkapi.analysis.machines.certificate import Certificate, certificate
from topkapi.analysis.machines.effects import (
    AnswerEffect,
    LengthBoard,
    SystemStrength,
    length_board,
    length_effects,
    side_effects,
)
from topkapi.analysis.machines.kinds import KindAgreement, agreement_by_kind
from topkapi.analysis.machines.powered import (
    PoweredMean,
    PoweredSystem,
    powered_mean,
    powered_systems,
    win_shares,
)

__all__ = [
    "AlternativeTest",
    "AnswerEffect",
    "Calibration",
    "Certificate",
    "ConfidenceBin",
    "KindAgreement",
    "LengthBoard",
    "PersonComparison",
    "PoweredMean",
    "PoweredSystem",
    "SystemStrength",
    "agreement_by_kind",
    "alternative_annotator_test",
    "calibration",
    "certificate",
    "length_board",
    "length_effects",
    "powered_mean",
    "powered_systems",
    "side_effects",
    "votes_as_scores",
    "win_shares",
]
