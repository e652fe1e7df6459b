"""Links to pages under judgment: signed and temporary."""

import pytest

from topkapi.app.web.pages import page_links
from topkapi.app.web.pages.page_links import LinkExpired, LinkWrong, PageLink, PageLinks

LINK = PageLink(1, 2, "light", 4, ("tulip", '<vase> & "more"'))


class Clock:
    def __init__(self, at: float) -> None:
        self.at = at

    def time(self) -> float:
        return self.at


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock(1_000_000_000.0)
    monkeypatch.setattr(page_links, "time", clock)
    return clock


def token_of(address: str) -> str:
    return address.split("/")[2]


def test_a_link_names_the_page_and_where_it_stood(clock: Clock) -> None:
    links = PageLinks("secret", minutes=60)
    address = links.address(LINK, "pages/a b/ü.html")
    assert address.endswith("/pages/a%20b/%C3%BC.html")
    found, seconds = links.read(token_of(address))
    assert found == LINK
    assert 3600 <= seconds <= 4500
    assert clock.at


def test_links_made_soon_after_each_other_are_the_same(clock: Clock) -> None:
    links = PageLinks("secret", minutes=60)
    clock.at = 900 * 1_000_000.0
    first = links.address(LINK, "")
    clock.at += 899
    assert links.address(LINK, "") == first
    clock.at += 1
    assert links.address(LINK, "") != first


def test_a_link_ends(clock: Clock) -> None:
    links = PageLinks("secret", minutes=60)
    token = token_of(links.address(LINK, ""))
    clock.at += 3599
    links.read(token)
    clock.at += 1300
    with pytest.raises(LinkExpired):
        links.read(token)


def test_a_link_of_another_program_or_purpose_is_wrong() -> None:
    token = token_of(PageLinks("one", minutes=60).address(LINK, ""))
    links = PageLinks("another", minutes=60)
    for wrong in (token, "", "x", token[:-1], token + "x", "a.b.c"):
        with pytest.raises(LinkWrong):
            links.read(wrong)
