"""Tests of rendering: terms are marked, connections are removed, the rest is unchanged."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turbohtml import parse, tokenize

from tests.cases import each_case
from topkapi.app.services.pages import rendering
from topkapi.app.services.pages.rendering import rendered_html

_MARK = re.compile(r'<mark data-mark="\d">|</mark>')
ORDINARY = [
    "tulip", "Tulips", " ", "\n", "<p>", "</p>", "<b class='tulip'>", "</b>", "&amp;", "&eacute;",
    "<a title=\"tulip\" href=x>", "</a>", "<svg><text>tulip</text></svg>", "<br/>", "vase", "=",
    "<textarea>tulip</textarea>", "<title>tulip</title>", "<!doctype html>", "caf", "<table>",
    "<tr>", "<td>", "</table>", "<style>p > a { color: red }</style>", "<noscript>", "</noscript>",
    "<ul><li>", "<select><option>tulip</select>", "<img src=a.png alt='<'>", "<pre>\n", "</pre>",
    "<form action=x><input value=y>", "</form>", "<template>", "</template>", "<math><mi>x</math>",
]  # fmt: skip
HOSTILE = [
    "<!-- tulip -->", "<!--", "-->", "<script>", "</script>", "<style>", "</style>", "<", ">", "&",
    '"', "'", "<textarea>", "<title>", "<a b='>", "<svg>", "</svg>", "<math>", "<mtext>", "/>",
    "<title/>", "<style/>", "<link rel=preconnect href=//x>", "<link rel=&#112;reconnect href=//x>",
    "<![CDATA[", "]]>", "<xmp>", "<plaintext>", "<iframe srcdoc='<link rel=preconnect>'>", "<base>",
    "<foreignObject>", "<meta http-equiv=refresh content=0>", "\0", "\r", "&#13;", "&#0;", "<?",
    "<select>", "<frameset>", "<object data=//x>", "</p", "<noframes>", "<p\0>", "<a\"b c<d=e>",
    "<!doctype html public 'a\"b'>", "<desc>", "<annotation-xml>", "<mglyph>", "&lt;link&gt;",
]  # fmt: skip
PAGES = st.lists(st.sampled_from(ORDINARY + HOSTILE), max_size=30).map("".join)


class _Tags(HTMLParser):
    """All tags found by an independent parser without raw-text or foreign elements."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def set_cdata_mode(self, elem: str, **_: bool) -> None:
        """Continue to read tags."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def tags_of(html: str) -> list[tuple[str, dict[str, str | None]]]:
    reader = _Tags()
    reader.feed(html)
    reader.close()
    return reader.found


def text_of(html: str) -> str:
    return parse(html).text


def marked(html: str, *terms: str) -> str:
    return rendered_html(html, terms)


@given(PAGES)
def test_a_page_written_again_stays_as_it_is(html: str) -> None:
    once = rendered_html(html, [])
    assert rendered_html(once, []) == once


@given(PAGES)
def test_marks_are_all_that_terms_change(html: str) -> None:
    assert _MARK.sub("", marked(html, "tulip", "vase", "é")) == rendered_html(html, [])


@given(st.lists(st.sampled_from(ORDINARY), max_size=30).map("".join))
def test_an_ordinary_page_keeps_its_text(html: str) -> None:
    assert text_of(rendered_html(html, [])) == text_of(html)


@given(PAGES)
def test_every_reader_finds_only_tags_that_were_checked(html: str) -> None:
    """Check with a parser that has no raw-text elements: every `<` that is left starts a tag."""
    written = rendered_html(html, [])
    for name, attributes in tags_of(written):
        assert name not in ("script", "base", "noembed", "noframes", "plaintext", "xmp")
        assert name != "link" or attributes["rel"] == "stylesheet"
        assert name != "meta" or "http-equiv" not in attributes
        assert not attributes.keys() & {"srcdoc", "ping", "onload", "attributionsrc"}
        assert name not in ("iframe", "object") or not attributes.keys() & {"src", "data"}
    assert "<!--" not in written


@given(
    st.text(max_size=200), st.lists(st.text("ab<>&\"' ", min_size=1).filter(str.strip), max_size=4)
)
def test_any_text_and_any_terms_are_taken(html: str, terms: list[str]) -> None:
    assert _MARK.sub("", rendered_html(html, terms)) == rendered_html(html, [])


def test_terms_are_marked_where_words_begin() -> None:
    assert marked("Tulips, atulip, tulip-bed", "tulip") == (
        '<mark data-mark="1">Tulip</mark>s, atulip, <mark data-mark="1">tulip</mark>-bed'
    )


def test_each_term_has_its_colour_and_the_longest_wins() -> None:
    html = marked("cut cutting vase stem leaf knife", "cut", "cutting", "vase", "stem", "leaf")
    found = re.findall(r'data-mark="(\d)">(\w+)', html)
    assert found == [("1", "cut"), ("2", "cutting"), ("3", "vase"), ("4", "stem"), ("1", "leaf")]


def test_phrases_diacritics_and_references() -> None:
    assert "<mark" in marked("cut\n  tulips", "cut tulips")
    assert "<mark" not in marked("cafe", "café")
    assert marked("caf&eacute; &amp; CAFÉ", "café").count("<mark") == 2
    assert marked("a &lt; b", "< b") == 'a <mark data-mark="1">&lt; b</mark>'


def test_scripts_without_spaces_are_marked_inside_words() -> None:
    assert marked("保持郁金香直立", "郁金香") == '保持<mark data-mark="1">郁金香</mark>直立'


@each_case(
    "html",
    [
        "<script>tulip</script>", "<style>tulip</style>", "<title>tulip</title>", "<!-- tulip -->",
        "<textarea>tulip</textarea>", "<svg><text>tulip</text></svg>", "<p title='tulip'>",
        "<select><option>tulip</select>", "<script>if (a < b) tulip", "<p tulip", "<?xml tulip?>",
        "<svg><svg></svg><text>tulip</text></svg>", "<template>tulip</template>", "<textarea>tulip",
        "<iframe>tulip</iframe>", "<noscript><style>tulip</style></noscript>",
    ],
)  # fmt: skip
def test_nothing_is_marked_where_it_would_not_be_seen_as_a_mark(html: str) -> None:
    assert "<mark" not in marked(html, "tulip")
    assert "<mark" in marked(html + "</title></textarea></script>?><p> tulip", "tulip")


def test_text_that_browsers_show_without_scripts_is_marked() -> None:
    assert "<mark" in marked("<noscript><p>tulip</p></noscript>", "tulip")
    assert "<mark" in marked("<xmp><b>tulip</xmp>", "tulip")
    assert marked("<svg><title/><g/></svg><p>tulip", "tulip").endswith("tulip</mark>")


RELATIONS = [
    "preconnect", "dns-prefetch", "prefetch", "preload", "modulepreload", "prerender", "icon",
    "PreConnect", "&#112;reconnect", "pre&#x63;onnect", "next preconnect", "expect", "",
    "manifest", "compression-dictionary", "x\tpreconnect",
]  # fmt: skip
AROUND = [
    "{}", "<svg>{}</svg>", "<svg><style>{}</style></svg>", "<math><style>{}</style></math>",
    "<svg><style><p>{}", "<noscript>{}</noscript>", "<template>{}</template>", "<title>{}",
    "<textarea>{}", "<style><!--</style>{}-->", "<!--><p>{}-->", "<svg><title/>{}",
    "<select>{}", "<table>{}", "<svg><desc>{}", "<math><mtext>{}", "<frameset>{}",
    "<style><<!--{}</style>", "<iframe>{}</iframe>", "<noscript><p title='</noscript>{}'>",
    "<xmp>{}</xmp>", "<script/>{}", "<svg><script/>{}", "<svg><![CDATA[>{}]]>", "<plaintext>{}",
]  # fmt: skip


def test_hints_are_gone_wherever_they_are() -> None:
    pages = [
        around.format(f'<link href=//x rel="{rel}">') for rel in RELATIONS for around in AROUND
    ]
    kept = [page for page in pages if "<link" in rendered_html(page, []).lower()]
    assert kept == []


def test_styles_stay_and_are_nothing_else() -> None:
    assert rendered_html('<LINK REL="StyleSheet" HREF="preload.css">', []) == (
        '<link rel="stylesheet" href="preload.css">'
    )
    page = '<link rel="alternate stylesheet preconnect" as=image imagesrcset=//x href=a title=b>'
    assert rendered_html(page, []) == '<link rel="alternate stylesheet" href="a" title="b">'
    style = "<style>a > b { content: '<' } @media (1px<width) {}</style>"
    assert rendered_html(style, []) == style.replace("<w", r"\3c w")


@each_case(
    ("page", "written"),
    [
        ('<iframe src="//x" width=3>a</iframe>', '<iframe width="3"></iframe>'),
        ("<iframe srcdoc='<p>x'></iframe>", "<iframe></iframe>"),
        ("<object data=//x>else</object>", "<object>else</object>"),
        ("<embed src=//x><frame src=//x>", "<embed><frame>"),
        ("<a href=x ping=//x attributionsrc=//y onclick=z>", '<a href="x">'),
        ("<meta http-equiv=Refresh content='0;url=//x'><meta charset=a>", '<meta charset="a">'),
        ("<base href=//x><script type=speculationrules>{}</script>a", "a"),
        ("<svg><a><animate attributeName=' HREF' to=//x /></a></svg>", "<svg><a></a></svg>"),
        ("<svg><set attributeName=x to=y /></svg>", '<svg><set attributename="x" to="y"/></svg>'),
        ("<frameset><frame src=x><noframes><p>a</noframes></frameset>", "<frame><p>a"),
        ("<noframes><p>a</noframes>b", "b"),
        (
            "<body style='a:b ! IMPORTANT'><p style='a:b!important'>",
            '<body style="a:b "><p style="a:b!important">',
        ),
        ("<xmp>\n<b></xmp>", "<pre>\n\n&lt;b&gt;</pre>"),
    ],
)
def test_what_would_open_connections_is_turned_off(page: str, written: str) -> None:
    assert rendered_html(page, []) == written


@each_case(
    "address",
    ["http://out", "//out", "\\\\out", "/\\out", " HtTp:out", "ht\ntp://out", "/\t/out",
     "mailto:a@b", "javascript:x", "data:text/html,x", "&#104;ttp://out"],
)  # fmt: skip
def test_a_link_to_elsewhere_has_no_address(address: str) -> None:
    assert rendered_html(f'<a href="{address}" b>', []) == '<a href="javascript:" b>'
    assert rendered_html(f'<svg><a xlink:href="{address}">', []).startswith(
        '<svg><a xlink:href="javascript:">'
    )


def test_outside_a_frame_links_lead_to_their_page_only() -> None:
    page = '<a class="x" href="b/c.html">a</a><a href="#here">b</a><svg><use href="z"></svg>'
    assert rendered_html(page, []) == page
    assert rendered_html(page, [], links=False) == page.replace("b/c.html", "javascript:")


@each_case(
    ("page", "doctype"),
    [
        ("<!doctype html><p>", "<!DOCTYPE html>"),
        (" <!-- x --><!DOCTYPE HTML PUBLIC '-//W3C//DTD HTML 4.01//EN'>",
         ' <!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01//EN">'),
        ("<!doctype html public 'a' 'b'>", '<!DOCTYPE html PUBLIC "a" "b">'),
        ("<!doctype html system 'about:legacy-compat'>",
         '<!DOCTYPE html SYSTEM "about:legacy-compat">'),
        ("<!doctype>", ""),
        ("<!doctype other>", ""),
        ("<p><!doctype html>", "<p>"),
        ("<!doctype html public 'a\"b'>", ""),
    ],
)  # fmt: skip
def test_a_page_keeps_its_mode(page: str, doctype: str) -> None:
    assert rendered_html(page, []).removesuffix("<p>") == doctype.removesuffix("<p>")


@each_case("page", ["<style>a", "<textarea>a", "<title>a", "<svg><svg>", "<template>"])
def test_what_follows_a_page_is_not_part_of_it(page: str) -> None:
    names = [token.tag for token in tokenize(rendered_html(page, []) + "<style>b</style>")]
    assert names[-3:] == ["style", None, "style"]
    assert parse(rendered_html(page, []) + "<i>").select_one("i") is not None


def test_a_page_of_too_many_parts_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "MAX_TOKENS", 10)
    page = rendered_html("<p>tulip<svg>" * 100, ["tulip"])
    assert page.count("<p>") < 10
    assert "too long to be shown" in text_of(page)


def test_marks_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "MAX_MARKS", 7)
    assert marked("<p>tulip tulip" * 100, "tulip").count("<mark") == 7
    monkeypatch.setattr(rendering, "MAX_MARKED", 23)
    page = marked("<p>tulip tulip" * 100, "tulip")
    assert page.count("<mark") == 4
    assert _MARK.sub("", page) == "<p>tulip tulip" * 100


@pytest.mark.thorough
def test_deep_nesting_is_no_deeper_than_any_other() -> None:
    assert marked("<div>" * 100_000 + "tulip", "tulip").endswith("tulip</mark>")
    assert marked("<svg>" * 100_000, "tulip") == "<svg>" * 100_000 + "</svg>" * 100_000
