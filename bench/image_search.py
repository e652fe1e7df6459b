"""Convert the image-search preferences of real people to the files that `topkapi dcg learn` reads.

python -m bench.image_search ../shared/data/prefs-image-search OUT

writes OUT/lists.jsonl and OUT/relevance.tsv. The number in an image's name is its rank.
"""

import csv
import gzip
import json
import re
import sys
from collections import defaultdict
from pathlib import Path

WINNERS = {"0": "left", "1": "same", "2": "right"}  # left: sogou, right: baidu
ENGINES = {"left": "sogou", "right": "baidu"}
RANK = re.compile(r"_(\d+)\.[^.]*$")


def convert(source: Path, out: Path) -> tuple[int, int]:
    """Write both files; return the number of pairs of lists and of scored images."""
    out.mkdir(parents=True, exist_ok=True)
    images: dict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
    with gzip.open(source / "relevance_data.gz", "rt", encoding="utf-8") as stream:
        scored = list(csv.reader(stream, delimiter="\t"))[1:]
    for query, image, _ in scored:
        found = RANK.search(image)
        assert found is not None, image
        images[query, image.split("/", 1)[0]].append((int(found[1]), image))
    relevance = "".join(f"{query}\t{image}\t{score}\n" for query, image, score in scored)
    (out / "relevance.tsv").write_text(relevance, encoding="utf-8")
    lines = []
    with (source / "SERP_level_preference").open(encoding="utf-8") as stream:
        for query, winner in list(csv.reader(stream, delimiter="\t"))[1:]:
            lists = {
                side: [image for _, image in sorted(images[query, engine])]
                for side, engine in ENGINES.items()
            }
            row = {"query": query, **lists, "answer": WINNERS[winner]}
            lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    (out / "lists.jsonl").write_text("".join(lines), encoding="utf-8")
    return len(lines), len(scored)


if __name__ == "__main__":
    pairs, images = convert(Path(sys.argv[1]), Path(sys.argv[2]))
    print(f"{pairs} pairs of lists, {images} scored images")
