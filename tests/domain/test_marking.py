"""Marks in stored HTML: only text is marked, and nothing else changes."""

import re
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from app.domain.marking import marked

_MARK = re.compile(r'<mark data-mark="\d">|</mark>')
PIECES = st.sampled_from(
    [
        "tulip", "Tulips", " ", "\n", "<p>", "</p>", "<b class='tulip'>", "</b>", "&amp;",
        "&eacute;",
        "<!-- tulip -->", "<script>tulip</script>", "<style>tulip{}</style>", "<", ">", "&",
        '"', "'",
        "<a title=\"tulip\" href=x>", "</a>", "<svg><text>tulip</text></svg>", "<br/>", "vase", "=",
        "<textarea>tulip", "</textarea>", "<title>tulip</title>", "<!doctype html>", "<a b='>",
        "caf",
    ]
)  # fmt: skip


class _Shape(HTMLParser):
    """Tags in their order, and the text that is shown, without marks."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "mark":
            self.tags.append(f"{tag} {attrs}")

    def handle_endtag(self, tag: str) -> None:
        if tag != "mark":
            self.tags.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        self.text += data


def shape(html: str) -> tuple[list[str], str]:
    parser = _Shape()
    parser.feed(html)
    parser.close()
    return parser.tags, parser.text


@given(st.lists(PIECES, max_size=30).map("".join))
def test_without_its_marks_a_page_is_what_it_was(html: str) -> None:
    assert _MARK.sub("", marked(html, ["tulip", "vase"])) == html


@given(st.lists(PIECES.filter(lambda piece: piece not in ("<", "<a b='>", "&")), max_size=30))
def test_tags_and_text_stay_as_they_were(pieces: list[str]) -> None:
    html = "".join(pieces)
    assert shape(marked(html, ["tulip", "vase", "é"])) == shape(html)


@given(
    st.text(max_size=200), st.lists(st.text("ab<>&\"' ", min_size=1).filter(str.strip), max_size=4)
)
def test_any_text_and_any_terms_are_taken(html: str, terms: list[str]) -> None:
    assert _MARK.sub("", marked(html, terms)) == _MARK.sub("", html)


def test_terms_are_marked_where_words_begin() -> None:
    assert marked("Tulips, atulip, tulip-bed", ["tulip"]) == (
        '<mark data-mark="1">Tulip</mark>s, atulip, <mark data-mark="1">tulip</mark>-bed'
    )


def test_each_term_has_its_colour_and_the_longest_wins() -> None:
    html = marked("cut cutting vase stem leaf knife", ["cut", "cutting", "vase", "stem", "leaf"])
    found = re.findall(r'data-mark="(\d)">(\w+)', html)
    assert found == [("1", "cut"), ("2", "cutting"), ("3", "vase"), ("4", "stem"), ("1", "leaf")]


def test_phrases_diacritics_and_references() -> None:
    assert "<mark" in marked("cut\n  tulips", ["cut tulips"])
    assert "<mark" not in marked("cafe", ["café"])
    assert marked("caf&eacute; &amp; CAFÉ", ["café"]).count("<mark") == 2
    assert "<mark" in marked("a &lt; b", ["< b"])


def test_scripts_without_spaces_are_marked_inside_words() -> None:
    assert marked("保持郁金香直立", ["郁金香"]) == '保持<mark data-mark="1">郁金香</mark>直立'


def test_nothing_is_marked_where_it_would_not_be_seen_as_a_mark() -> None:
    for html in (
        "<script>tulip</script>", "<style>tulip</style>", "<title>tulip</title>",
        "<textarea>tulip</textarea>", "<!-- tulip -->", "<svg><text>tulip</text></svg>",
        "<select><option>tulip</select>", "<p title='tulip'>", "<script>if (a < b) tulip",
        "<plaintext></plaintext>tulip", "<p tulip", "<?xml tulip?>",
    ):  # fmt: skip
        assert marked(html, ["tulip"]) == html


def test_what_would_open_connections_is_turned_off() -> None:
    for rel in ("preconnect", "dns-prefetch", "prefetch", "preload", "modulepreload", "prerender"):
        assert marked(f'<link href=//x rel="{rel}">', []) == ""
        assert marked(f"<LINK rel={rel} href=//x>", []) == ""
    assert marked('<link rel="stylesheet" href="preload.css">', []).startswith("<link")
    assert marked("<link rel=stylesheet href=preload.css>", []).startswith("<link")
    assert marked('<iframe src="//x"></iframe>', []) == '<iframe data-src="//x"></iframe>'
    assert marked("<object data=//x>", []) == "<object data-data=//x>"


def test_links_lead_nowhere_where_they_should_not() -> None:
    page = "<a class=x href='http://out'>a</a><a href=#here>b</a><area href=\"x\"><p href=x>"
    assert marked(page, []) == page
    assert marked(page, [], links=False) == (
        "<a class=x data-href='http://out'>a</a><a href=#here>b</a><area data-href=\"x\"><p href=x>"
    )


def test_hostile_sources_take_no_longer_than_others() -> None:
    import time

    for source in ("<a", "<a ='", "<!--", "<", '<a b="', "<script>", "&", "</", "<svg>", "tulip"):
        start = time.process_time()
        marked(source * 20_000, ["tulip", "cut"])
        assert time.process_time() - start < 3, source
