"""Highlighted terms: the terms of the query until the person adds or removes one."""

from collections.abc import Callable, Sequence

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from topkapi.app.db.models import Highlight
from topkapi.app.domain.text.terms import query_terms, with_term, without_term

Terms = tuple[str, ...]


def terms_for(session: Session, *, user_id: int, query_id: int, query: str) -> Terms:
    """Return the terms highlighted for this person on the pages of this query."""
    kept = session.get(Highlight, (user_id, query_id))
    return tuple(kept.terms) if kept is not None else query_terms(query)


def add_term(session: Session, *, user_id: int, query_id: int, query: str, term: str) -> Terms:
    """Add a highlighted term and return all terms."""
    return _change(session, user_id, query_id, query, lambda terms: with_term(terms, term))


def remove_term(session: Session, *, user_id: int, query_id: int, query: str, term: str) -> Terms:
    """Remove a highlighted term and return the remaining terms."""
    return _change(session, user_id, query_id, query, lambda terms: without_term(terms, term))


def _change(
    session: Session,
    user_id: int,
    query_id: int,
    query: str,
    change: Callable[[Sequence[str]], Terms],
) -> Terms:
    kept = session.get(Highlight, (user_id, query_id), with_for_update=True)
    if kept is None:
        kept = _insert(session, user_id, query_id, query)
    terms = change(kept.terms)
    kept.terms = list(terms)
    session.flush()
    return terms


def _insert(session: Session, user_id: int, query_id: int, query: str) -> Highlight:
    """Insert the row with the query's own terms, or return one that another tab just inserted."""
    row = Highlight(user_id=user_id, query_id=query_id, terms=list(query_terms(query)))
    try:
        with session.begin_nested():
            session.add(row)
    except IntegrityError:
        found = session.get(Highlight, (user_id, query_id), with_for_update=True)
        assert found is not None
        return found
    return row
