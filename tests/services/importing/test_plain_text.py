from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from topkapi.app.services.importing.records.contents import plain_text


@each_case(
    ("page", "text"),
    [
        ("", ""),
        ("just words", "just words"),
        ("<p>one</p><p>two", "one\n\ntwo"),
        ("<title>t</title><h1>Head</h1>body", "Head\n\nbody"),
        ("a<br>b<br/>c", "a\nb\nc"),
        ("<ul><li>one<li>two</ul>", "one\ntwo"),
        ("<table><tr><td>1<td>2</tr></table>", "1  2"),
        ("<b>bo</b>ld and <i>italic</i>", "bold and italic"),
        ("  many \n\t blanks ", "many blanks"),
        ("&lt;b&gt; &amp; &eacute;&nbsp;&#8220;", "<b> & é “"),
        ("x<script>if (a < b) { '</p>' }</script>y", "xy"),
        ("x<style>p > a {}</style>y<!-- <p>no --> z", "xy z"),
        ("<pre>a\n  b</pre>", "a\nb"),
        ('<a title="1 > 2" href=x>link</a>', "link"),
        ("<p class='it'>it's <q>so</q>", "it's so"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("<head><meta charset=utf-8><body>no end of head", "no end of head"),
        ("cut <a href='off", "cut"),
        ("<!doctype html><?xml x?>text", "text"),
        ("zero\0byte", "zerobyte"),
        ("a<noscript><p>b</noscript>", "a\n\nb"),
        ("a<template><p>b</template>c<svg><title>d</title><text>e</text></svg>", "ace"),
        ("<svg><title/></svg>a<textarea>b</textarea><xmp><b></xmp>", "ab<b>"),
        ("<frameset><frame src=x><noframes><p>a<b>b</b></noframes></frameset>", "ab"),
        ("one\u2009two&nbsp;&nbsp;three", "one two  three"),
    ],
)
def test_words_are_kept_and_markup_is_not(page: str, text: str) -> None:
    assert plain_text(page) == text


@given(st.text(alphabet="<>/ab'\"=!-&;pre \n"))
def test_any_text_is_taken(page: str) -> None:
    assert isinstance(plain_text(page), str)


def test_deep_nesting_is_no_deeper_than_any_other() -> None:
    assert plain_text("<div>" * 100_000 + "words") == "words"
    assert plain_text("<noscript><svg><title/>" * 10_000).strip() == ""
