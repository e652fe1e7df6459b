"""A random walk of an assessor through the browser: does the log say what was on the screen?

At every answer the walk reads the text inside the frames; at the end the log of each assignment
has to name these pages, with what was pressed, entry by entry. Between answers it goes back and
forward, reloads, loses the connection, judges in another tab, pauses, undoes and opens dialogs.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import select

from tests.browser.assigned_work import (
    AssignedWork,
    Site,
    asked_of,
    make_assigned,
    moved_on,
    question_of,
    read_of,
    ready,
    saved,
    seen,
)
from tests.waiting import until
from topkapi.app.db.models import Document
from topkapi.app.domain.enums import Tool

Said = tuple[str, str | None, tuple[str, ...]]  # entry, answer, pages
KEYS = {
    Tool.PAIRS: {"ArrowLeft": "left", "ArrowRight": "right", "t": "tie"},
    Tool.GRADES: {"1": "bad", "2": "fair", "3": "good", "4": "excellent", "5": "perfect"},
}


@dataclass
class Walk:
    """One walk: the page it is on, and what was pressed and read so far."""

    site: Site
    context: BrowserContext
    random: Random
    restart: Callable[[], BrowserContext] | None = None
    answers: int = 0
    work: AssignedWork = field(init=False)
    page: Page = field(init=False)
    tool: Tool = field(init=False)
    said: list[Said] = field(init=False)

    def begin(self) -> None:
        """Open a new assignment."""
        self.tool = self.random.choice([Tool.PAIRS, Tool.PAIRS, Tool.GRADES])
        self.context.clear_cookies()
        self.work = make_assigned(self.site, tool=self.tool)
        self.work.sign_in(self.context)
        self.page = self.context.new_page()
        self.page.goto(self.site.server.url)
        self.page.goto(self.work.url)
        self.said = []
        ready(self.page)

    def is_over(self) -> bool:
        return self.page.locator("#answers").count() == 0

    def answer(self, page: Page | None = None) -> None:
        """Answer by key or by mouse what the frames show."""
        page = page or self.page
        seen(page)
        read = tuple(read_of(page))
        assert read == tuple(asked_of(page)), "the frames show other pages than the question"
        key, answer = self.random.choice(list(KEYS[self.tool].items()))
        before = question_of(page)
        if self.random.random() < 0.3:
            page.locator(f".answer[value={answer}]").click()
        else:
            page.keyboard.press(key)
        moved_on(page, before)
        saved(page)
        page.wait_for_load_state()
        self.said.append(("answer", answer, read))
        self.answers += 1

    def step(self) -> None:
        """Do one thing that a person may do between two answers."""
        act = self.random.choice(
            [
                self.back_from_history,
                self.back_and_forward,
                self.reload,
                self.come_back,
                self.lose_the_connection,
                self.judge_elsewhere,
                self.pause,
                self.open_dialogs,
                self.undo,
                *([self.restore] if self.restart else []),
            ]
        )
        act()
        if not self.is_over():
            ready(self.page)

    def back_from_history(self) -> None:
        self.page.goto(f"{self.work.url}/{self.random.choice(['history', 'guidelines'])}")
        self.page.go_back()

    def back_and_forward(self) -> None:
        self.page.go_back()
        expect(self.page.get_by_role("heading", name="Your queue")).to_be_visible()
        self.page.go_forward()
        if self.random.random() < 0.5:
            ready(self.page)
            self.page.go_back()
            self.page.go_forward()

    def reload(self) -> None:
        self.page.reload()

    def come_back(self) -> None:
        """Leave by an address and come back by another tab."""
        self.page.close()
        self.page = self.context.new_page()
        self.page.goto(self.site.server.url)
        self.page.goto(self.work.url)

    def restore(self) -> None:
        """Close the browser, start it again, and go on in the tab that it restores."""
        assert self.restart is not None
        self.context = self.restart()
        self.page = restored_page(self.context, self.work)
        for other in self.context.pages:  # of many tabs, not all are loaded before they are shown
            if other.url == "about:blank":
                other.close()

    def lose_the_connection(self) -> None:
        seen(self.page)
        read = tuple(read_of(self.page))
        key, answer = self.random.choice(list(KEYS[self.tool].items()))
        before = question_of(self.page)
        self.context.set_offline(True)
        self.page.keyboard.press(key)
        expect(self.page.get_by_text("No connection.")).to_be_visible()
        self.context.set_offline(False)
        saved(self.page)
        moved_on(self.page, before)
        self.page.wait_for_load_state()
        self.said.append(("answer", answer, read))
        self.answers += 1

    def judge_elsewhere(self) -> None:
        """Answer in another tab; what is then pressed here, on the old question, does not count."""
        other = self.work.open_page(self.context)
        self.answer(other)
        other.close()
        seen(self.page)
        before = question_of(self.page)
        self.page.keyboard.press(self.random.choice(list(KEYS[self.tool])))
        moved_on(self.page, before)
        saved(self.page)
        self.page.wait_for_load_state()

    def pause(self) -> None:
        self.page.keyboard.press("p")
        expect(self.page.get_by_role("button", name="Resume")).to_be_visible()
        self.page.keyboard.press("p")

    def open_dialogs(self) -> None:
        for key, name in (("?", "Help"), ("g", "Guidelines"), ("n", "Note on this question")):
            self.page.keyboard.press(key)
            expect(self.page.get_by_role("dialog", name=name)).to_be_visible()
            self.page.keyboard.press("Escape")
            expect(self.page.get_by_role("dialog", name=name)).not_to_be_visible()

    def undo(self) -> None:
        button = self.page.get_by_role("button", name="Undo")
        if button.is_enabled():
            before = question_of(self.page)
            self.page.keyboard.press("u")
            moved_on(self.page, before)
            saved(self.page)
            self.said.append(("undo", None, ()))

    def recorded(self) -> list[Said]:
        """Return the log, with the names of its pages."""
        with self.site.sessions.read.begin() as session:
            names = {row.id: row.external_id for row in session.scalars(select(Document))}
        entries: list[Said] = []
        for row in self.work.rows():
            pages = [names[each] for each in (row.left_id, row.right_id) if each is not None]
            entries.append((row.entry.value, row.answer, tuple(pages)))
        return entries


def restored_page(context: BrowserContext, work: AssignedWork) -> Page:
    """Return the judging page among the tabs that a browser has restored."""

    def restored() -> Page | None:
        for page in context.pages:
            if page.url == work.url:
                return page
            if page.url == ":":  # a restored tab that is not loaded before it is shown
                page.bring_to_front()
        context.cookies()  # whatever the browser is asked, it reports its tabs
        return None

    found = until(restored, "the browser to restore the tab")
    assert found is not None
    return found


def walk(
    site: Site,
    context: BrowserContext,
    *,
    seed: int,
    answers: int,
    restart: Callable[[], BrowserContext] | None = None,
) -> int:
    """Give at least ``answers`` answers; return how many entries were compared with the log.

    With ``restart``, which closes the browser and starts it again, it also restores its session.
    """
    this = Walk(site, context, Random(seed), restart)
    compared = 0
    while this.answers < answers:
        this.begin()
        while this.answers < answers and not this.is_over():
            this.answer()
            if not this.is_over() and this.random.random() < 0.6:
                this.step()
        recorded = this.recorded()
        assert recorded == this.said
        compared += len(recorded)
        this.page.close()
    return compared
