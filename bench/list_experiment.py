"""Draw docs/figures/active-lists.svg: judgments of lists until learned gains are right.

python -m bench.list_experiment
"""

from pathlib import Path

from topkapi.analysis.dcglearn.replication.curves import Curves
from topkapi.analysis.dcglearn.replication.list_experiment import (
    ListExperiment,
    accuracy_by_judgments,
    judgments_needed,
)


def main(runs: int = 10) -> None:
    lines: dict[str, tuple[float, ...]] = {}
    x: tuple[float, ...] = ()
    for data, name in ((1, "gains l"), (2, "gains 2^l - 1")):
        curve = accuracy_by_judgments(
            ListExperiment(), data, runs=runs, seed=1, sizes=range(20, 481, 20)
        )
        needed = {line: judgments_needed(curve, line) for line in ("active", "random")}
        share = needed["active"] / needed["random"]
        print(f"{name}: 95 % after {needed} judgments, {share:.0%}")
        x = curve.x
        lines |= {f"{line}, {name}": values for line, values in curve.lines.items()}
    out = Path(__file__).parents[1] / "docs/figures"
    out.mkdir(parents=True, exist_ok=True)
    title = "Accuracy by judgments of lists"
    Curves("T3", title, "judgments", x, lines).draw(out / "active-lists.svg")


if __name__ == "__main__":
    main()
