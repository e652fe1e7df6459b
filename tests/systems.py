"""Runs of systems for studies of `make_judged_study`, whose pages are named q0-d0, q0-d1, ..."""

import gzip


def run_of(system: str, *, queries: int = 3, pages: int = 6, turned: bool = False) -> str:
    """Return a run over all pages in the order of their names, or the reverse."""
    order = list(range(pages))[:: -1 if turned else 1]
    return "".join(
        f"q{query} Q0 q{query}-d{page} {rank} {pages - rank} {system}\n"
        for query in range(queries)
        for rank, page in enumerate(order, start=1)
    )


def packed(text: str) -> bytes:
    """Return the text as a gzip file."""
    return gzip.compress(text.encode())
