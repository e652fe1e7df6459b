"""View of the open question of an assignment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from topkapi.app.domain.enums import Tool
from topkapi.app.domain.lists.plan import ShownList, hidden_name
from topkapi.app.domain.lists.session import AskingLists
from topkapi.app.domain.session import Progress
from topkapi.app.domain.text.snippets import Parts, snippet, without_markdown
from topkapi.app.services.judging.live_sessions import DocumentHead
from topkapi.app.services.judging.states import AssignmentState
from topkapi.app.web.pages.open_pages import DisplayPreferences
from topkapi.app.web.pages.page_html import MARKDOWN, keeps_colours
from topkapi.app.web.pages.page_links import PageLink, PageLinks, Theme

_OTHER = {"left": "right", "right": "left"}
_SIDES = {Tool.PAIRS: ("left", "right"), Tool.GRADES: ("page",)}
_LABELS = {"left": "Left page", "right": "Right page", "page": "The page"}
_VERBS = {Tool.PAIRS: "answered", Tool.GRADES: "graded", Tool.LISTS: "compared"}
_FIELDS = {"left": "left", "right": "right", "page": "document"}


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


@dataclass(frozen=True, slots=True)
class PaneView:
    """One page on the screen. ``key`` identifies its rendering, independent of its link."""

    side: str
    label: str
    field: str
    name: str
    title: str
    host: str
    is_new: bool
    source: str
    key: str
    light: bool


@dataclass(frozen=True, slots=True)
class SessionProgressView:
    """The progress bar: fractions of the answered and the expected questions together.

    From ``maybe`` on, the end is within its 90 % range.

    In a session that stops at a quality, the bar shows the expected quality instead: ``quality`` of
    ``goal``, in percent. ``here`` are the other members of the team who have a question open or
    wait, ``asked`` those who have one open.
    """

    answered: int
    left: int
    scale: int
    text: str
    done: float
    maybe: float
    maybe_width: float
    is_exact: bool
    verb: str = "answered"
    quality: int | None = None
    goal: int | None = None
    here: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionView:
    """Everything that changes from one question to the next."""

    assignment_id: int
    tool: Tool
    position: int
    panes: tuple[PaneView | ListPane, ...]
    progress: SessionProgressView
    can_undo: bool
    can_redo: bool
    active_ms: int
    together: bool = False
    waits: bool = False

    @property
    def finished(self) -> bool:
        """Whether no question is left."""
        return not self.panes


def question_view(
    assignment_state: AssignmentState,
    links: PageLinks,
    reading: DisplayPreferences,
    texts: Mapping[str, str],
) -> QuestionView:
    """Return the open question with links to its pages; ``texts`` are for snippets in lists."""
    panes: tuple[PaneView | ListPane, ...]
    if assignment_state.tool is Tool.LISTS:
        panes = tuple(list_panes(assignment_state, links, assignment_state.terms, reading, texts))
    else:
        panes = tuple(_panes(assignment_state, links, reading))
    together = bool(assignment_state.plan.get("together"))
    return QuestionView(
        assignment_id=assignment_state.assignment_id,
        tool=assignment_state.tool,
        position=assignment_state.position,
        panes=panes,
        progress=progress_view(assignment_state),
        can_undo=assignment_state.can_undo,
        can_redo=assignment_state.can_redo,
        active_ms=assignment_state.active_ms,
        together=together,
        waits=assignment_state.waits,
    )


def _panes(
    assignment_state: AssignmentState, links: PageLinks, reading: DisplayPreferences
) -> list[PaneView]:
    numbers = assignment_state.state.shown
    heads = [assignment_state.documents[number] for number in numbers]
    theme = theme_of(assignment_state)
    panes = []
    for side, head in zip(_SIDES[assignment_state.tool], heads, strict=bool(heads)):
        link = PageLink(
            assignment_state.query.study_id, head.id, theme, reading.size, assignment_state.terms
        )
        panes.append(_pane(side, head, links.address(link, head.path), link, assignment_state))
    return panes


def theme_of(assignment_state: AssignmentState) -> Theme:
    """Return the theme of all pages of a query: light if one of them keeps its own colours.

    Both pages of a pair need the same background, and it must not change from pair to pair.
    """
    heads = assignment_state.documents.values()
    return "light" if any(keeps_colours(head.media_type) for head in heads) else "auto"


def _pane(
    side: str, head: DocumentHead, source: str, link: PageLink, assignment_state: AssignmentState
) -> PaneView:
    return PaneView(
        side=side,
        label=_LABELS[side],
        field=_FIELDS[side],
        name=head.name,
        title=head.title or head.name,
        host=host_of(head.url),
        is_new=assignment_state.tool is Tool.PAIRS and head.id in assignment_state.new,
        source=source,
        key=f"{head.id} {link.theme} {'|'.join(link.terms)}",
        light=link.theme == "light",
    )


def progress_view(state: AssignmentState) -> SessionProgressView:
    """Return the progress bar and its text; the bar is full when nothing is left."""
    progress, tool, together = state.progress, state.tool, bool(state.plan.get("together"))
    answered, left = progress.answered, progress.expected_left
    full = max(answered + left, 1)
    quality, goal = _in_percent(progress)
    maybe = min(1.0, (answered + progress.low) / full)
    return SessionProgressView(
        answered=answered,
        left=left,
        scale=full,
        text=_progress_text(progress, tool, " by your team" if together else ""),
        done=answered / full if quality is None or not goal else quality / goal,
        maybe=maybe,
        maybe_width=1.0 - maybe,
        is_exact=progress.exact or tool is not Tool.PAIRS,
        verb="by team" if together else _VERBS[tool],
        quality=quality,
        goal=goal,
        here=state.here,
        asked=state.asked,
    )


def _progress_text(progress: Progress, tool: Tool, whose: str) -> str:
    answered, left = progress.answered, progress.expected_left
    quality, goal = _in_percent(progress)
    if tool is Tool.GRADES:
        return f"{answered} of {answered + left} pages graded, {left} left"
    if tool is Tool.LISTS:
        return f"{answered} of {answered + left} pairs of lists compared, {left} left"
    if progress.exact:
        return f"{answered} of {answered + left} questions answered{whose}, {left} left"
    if quality is not None:
        return (
            f"{answered} answered{whose}, at most {progress.high} left; the expected quality of "
            f"the list is {quality} %, the goal is {goal} %"
        )
    return (
        f"{answered} answered, about {left} questions left, "
        f"between {progress.low} and {progress.high}"
    )


def _in_percent(progress: Progress) -> tuple[int | None, int | None]:
    """Return quality and goal; the quality stays below the goal while questions are asked.

    The quality reported with a question is a quick estimate with a slight upward bias.
    """
    if progress.quality is None or progress.goal is None:
        return None, None
    goal = round(100 * progress.goal)
    return min(int(100 * progress.quality), goal - 1), goal


@lru_cache(maxsize=4096)
def host_of(url: str) -> str:
    """Return the host of an address, to show beside a title."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
