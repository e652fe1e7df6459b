"""Tests of the text cache: texts are read once, bounded in bytes, and never mixed up."""

from sys import getsizeof

from sqlalchemy import Engine, event
from sqlalchemy.orm import Session

from tests.factories import make_content
from topkapi.app.services.pages.shown import PageTexts


def reads_of(engine: Engine) -> list[str]:
    statements: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *args: statements.append(args[2]))
    return statements


def test_texts_are_those_of_their_pages_and_read_once(session: Session, engine: Engine) -> None:
    words = {make_content(session, word).hash: word for word in ("tulip", "vase", "knife")}
    tulip, vase, knife = words
    session.flush()
    texts, statements = PageTexts(), reads_of(engine)
    assert texts.of(session, [tulip, vase]) == {tulip: "tulip", vase: "vase"}
    assert texts.of(session, [vase, knife]) == {vase: "vase", knife: "knife"}
    assert len(statements) == 2
    assert texts.of(session, [knife, tulip]) == {knife: "knife", tulip: "tulip"}
    assert texts.of(session, []) == {}
    assert len(statements) == 2


def test_the_text_unused_for_longest_goes_first(session: Session, engine: Engine) -> None:
    words = {make_content(session, word * 10).hash: word * 10 for word in "abcd"}
    a, b, c, d = words
    session.flush()
    texts, statements = PageTexts(capacity=3 * getsizeof("a" * 10)), reads_of(engine)
    texts.of(session, [a])
    texts.of(session, [b, c])
    texts.of(session, [a])
    texts.of(session, [d])
    assert len(statements) == 3
    assert texts.of(session, [a, c, d]) == {each: words[each] for each in (a, c, d)}
    assert len(statements) == 3
    assert texts.of(session, [b]) == {b: words[b]}
    assert len(statements) == 4


def test_a_text_too_long_to_keep_is_still_told(session: Session, engine: Engine) -> None:
    long = make_content(session, "x" * 31)
    session.flush()
    texts, statements = PageTexts(capacity=getsizeof("x" * 30)), reads_of(engine)
    for _ in range(2):
        assert texts.of(session, [long.hash]) == {long.hash: "x" * 31}
    assert len(statements) == 2
