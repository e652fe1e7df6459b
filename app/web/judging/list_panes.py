"""View of the two rankings of a question: titles, addresses, snippets, links."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from topkapi.app.domain.lists.plan import ShownList, hidden_name
from topkapi.app.domain.lists.session import AskingLists
from topkapi.app.domain.text.snippets import Parts, snippet, without_markdown
from topkapi.app.services.judging.live_sessions import DocumentHead
from topkapi.app.services.judging.states import AssignmentState
from topkapi.app.web.pages.display_preferences import DisplayPreferences
from topkapi.app.web.pages.page_html import MARKDOWN, keeps_colours
from topkapi.app.web.pages.page_links import PageLink, PageLinks, Theme

_OTHER = {"left": "right", "right": "left"}


@dataclass(frozen=True, slots=True)
class ListedResult:
    """One result; ``elsewhere`` is its rank in the other list, empty if it is not in there."""

    name: str
    title: str
    url: str
    source: str
    light: bool
    parts: Parts
    elsewhere: str


@dataclass(frozen=True, slots=True)
class ListPane:
    """One ranking on the screen; ``name`` is sent with the answer and hides the system."""

    side: str
    label: str
    field: str
    name: str
    results: Sequence[ListedResult]
    is_new: bool = False


def list_panes(
    assignment_state: AssignmentState,
    links: PageLinks,
    terms: Sequence[str],
    reading: DisplayPreferences,
    texts: Mapping[str, str],
) -> list[ListPane]:
    """Return both rankings; ``texts`` maps content hashes to the plain texts of the pages."""
    state = assignment_state.state
    if not isinstance(state, AskingLists):
        return []

    def result(number: int, side: str, other: ShownList) -> ListedResult:
        head = assignment_state.documents[number]
        light = keeps_colours(head.media_type)
        theme: Theme = "light" if light else "auto"
        link = PageLink(assignment_state.query.study_id, head.id, theme, reading.size, tuple(terms))
        return ListedResult(
            name=head.name,
            title=head.title or head.name,
            url=head.url,
            source=links.address(link, head.path),
            light=light,
            parts=snippet(_text(head, texts), terms),
            elsewhere=_elsewhere(number, _OTHER[side], other),
        )

    pairs = (("left", state.left, state.right), ("right", state.right, state.left))
    return [
        ListPane(
            side=side,
            label=f"{side.capitalize()} list",
            field=side,
            name=hidden_name(assignment_state.plan["seed"], shown.system),
            results=[result(number, side, other) for number in shown.documents],
        )
        for side, shown, other in pairs
    ]


def _text(head: DocumentHead, texts: Mapping[str, str]) -> str:
    """Return the text of the page without its title, which is displayed above it."""
    text = texts.get(head.content_hash, "")
    if head.media_type == MARKDOWN:
        text = without_markdown(text)
    return text.lstrip().removeprefix(head.title)


def _elsewhere(number: int, side: str, other: ShownList) -> str:
    if number not in other.documents:
        return ""
    return f"{side} #{other.documents.index(number) + 1}"
