"""Every test that docs/security.md names as proof exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
THREATS = {
    *("Outsider", "Assessor against assessor", "Hostile page", "Hostile import"),
    *("Stolen database or backup", "Slow client"),
}
MODEL = PAGE.split("## Threat model")[1].split("\n## ")[0]
ROWS = [
    (heading, *(cell.strip() for cell in line.strip("|").split("|")))
    for heading, section in re.findall(r"### (.+?)\n(.*?)(?=\n### |\Z)", MODEL, re.DOTALL)
    for line in section.splitlines()
    if line.startswith("| ") and not line.startswith("| attack")
]
PROOFS = re.findall(r"`([\w/]+\.py)::(\w+)`", PAGE)


def test_every_threat_has_rows_of_attack_defence_and_test() -> None:
    assert {row[0] for row in ROWS} == THREATS
    for row in ROWS:
        assert len(row) == 4, row
        assert re.search(r"`[\w/]+\.py::\w+`", row[3]), row


def test_every_named_test_exists() -> None:
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path, _ in PROOFS}
    missing = [
        f"{path}::{name}"
        for path, name in sorted(set(PROOFS))
        if not re.search(rf"^def {name}\(", texts[path], re.MULTILINE)
    ]
    assert PROOFS
    assert missing == []
