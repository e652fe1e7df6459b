"""A random walk of an assessor through the browser: does the log say what was on the screen?

At every answer the walk reads the text inside the frames; at the end the log of each assignment
has to name these pages, with what was pressed, entry by entry. Between answers it goes back and
forward, reloads, loses the connection, judges in another tab, pauses, undoes and opens dialogs.
Pages are texts, PDF files and pages without a doctype. Some queries are those of a team of two,
whose other member has the last pair, and some get further pages before or after their end.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import select, update

from tests.browser.assigned_work import (
    LONG_TEXT,
    AssignedWork,
    Site,
    asked_of,
    make_colleague,
    moved_on,
    question_of,
    read_of,
    ready,
    saved,
    seen,
)
from tests.browser.page_clock import looks_again
from tests.factories import make_user, queries_of
from tests.judging import Job, answer_to
from tests.media import pdf_of
from tests.studies import write_jsonl
from tests.waiting import until
from topkapi.app.db.base import now
from topkapi.app.db.models import Assignment, Candidate, Document, PairLease, Study
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.study import stored_plan
from topkapi.app.services.accounts.tokens import issue_token
from topkapi.app.services.importing import import_and_commit, open_source

Said = tuple[str, str | None, tuple[str, ...]]  # entry, answer, pages
KEYS = {
    Tool.PAIRS: {"ArrowLeft": "left", "ArrowRight": "right", "t": "tie"},
    Tool.GRADES: {"1": "bad", "2": "fair", "3": "good", "4": "excellent", "5": "perfect"},
}
TEAM = 'sorter = "robust"\nbudget = 6\ntogether = true\n'
QUIRKS = "<title>{0}</title><style>body {{ overflow: hidden }}</style><p>{0}</p><pre>{1}</pre>"


@dataclass
class Pool:
    """A study of one query in a folder; pages of every kind can be added to it."""

    site: Site
    folder: Path
    slug: str
    random: Random
    counts: Counter[str]
    pages: list[dict[str, str]] = field(default_factory=list)

    def begin(self, rules: str, pages: int) -> None:
        """Write the study with its first pages."""
        (self.folder / "pages").mkdir(parents=True)
        head = f'name = "Walk"\nslug = "{self.slug}"\nk = 2\ntools = ["pairs", "grades"]\n'
        (self.folder / "study.toml").write_text(head + rules)
        write_jsonl(self.folder / "queries.jsonl", [{"id": "q", "text": "keep cut tulips upright"}])
        self.add(pages)

    def add(self, count: int) -> None:
        """Import the study with so many further pages."""
        self.pages += [self._page(len(self.pages) + number) for number in range(count)]
        write_jsonl(self.folder / "documents.jsonl", self.pages)
        candidates = [{"query": "q", "document": each["id"]} for each in self.pages]
        write_jsonl(self.folder / "candidates.jsonl", candidates)
        with open_source(self.folder) as source:
            import_and_commit(self.site.sessions, source)

    def _page(self, number: int) -> dict[str, str]:
        kind = self.random.choice(["text", "pdf", "quirks"])
        self.counts[kind] += 1
        page, text = {"id": f"d{number}", "title": f"Title {number}"}, f"Page number {number} of it"
        if kind == "text":
            return {**page, "text": f"{text}\n\n{LONG_TEXT}"}
        path = f"pages/d{number}.{'pdf' if kind == 'pdf' else 'html'}"
        quirks = QUIRKS.format(text, LONG_TEXT).encode()
        (self.folder / path).write_bytes(pdf_of(text, "More") if kind == "pdf" else quirks)
        return {**page, "path": path}

    def assigned(self, tool: Tool) -> AssignedWork:
        """Assign the query to a new person."""
        with self.site.sessions.write.begin() as session:
            study = session.scalars(select(Study).where(Study.slug == self.slug)).one()
            [query] = queries_of(session, study)
            wanted = select(Candidate.document_id).where(Candidate.query_id == query.id)
            pages = session.scalars(wanted.order_by(Candidate.position)).all()
            person = make_user(session)
            plan = stored_plan(study.settings, tool, pages, self.slug)
            row = Assignment(user_id=person.id, query_id=query.id, tool=tool, plan=plan)
            session.add(row)
            session.flush()
            return AssignedWork(self.site, person, row, study, query)


@dataclass
class Colleague:
    """The other member of a team, who judges through the API."""

    work: AssignedWork
    client: httpx.Client
    job: Job = field(init=False)
    state: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        with self.work.site.sessions.write.begin() as session:
            _, token = issue_token(session, self.work.user, "walk")
        self.job = Job(self.work.assignment.id, token)
        self.look()

    def look(self) -> None:
        """Ask for the question, which leases its pair."""
        self.state = self.client.get(self.job.url, headers=self.job.headers).json()

    def answer(self) -> None:
        """Answer the open question, if there is one, and get the next one."""
        if self.state["state"] == "asking":
            sent = answer_to(self.state)
            self.client.post(f"{self.job.url}/judgments", headers=self.job.headers, json=sent)
        self.look()

    def leave(self) -> None:
        """End the lease as time would."""
        mine = PairLease.assignment_id == self.job.assignment_id
        with self.work.site.sessions.write.begin() as session:
            session.execute(update(PairLease).where(mine).values(expires_at=now()))


@dataclass
class Walk:
    """One walk: the page it is on, and what was pressed and read so far."""

    site: Site
    context: BrowserContext
    random: Random
    folder: Path
    client: httpx.Client
    restart: Callable[[], BrowserContext] | None = None
    answers: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    pool: Pool = field(init=False)
    colleague: Colleague | None = field(init=False)
    work: AssignedWork = field(init=False)
    page: Page = field(init=False)
    tool: Tool = field(init=False)
    said: list[Said] = field(init=False)

    def begin(self) -> None:
        """Open a new assignment; in teams the colleague begins."""
        self.counts["queries"] += 1
        kind = self.random.choice(["pairs", "grades", "team"])
        self.tool = Tool.GRADES if kind == "grades" else Tool.PAIRS
        slug = f"walk-{self.counts['queries']}-{id(self)}"
        self.pool = Pool(self.site, self.folder / slug, slug, self.random, self.counts)
        self.pool.begin(TEAM if kind == "team" else "", 4 if kind == "team" else 5)
        self.context.clear_cookies()
        self.work = self.pool.assigned(self.tool)
        self.colleague = None
        if kind == "team":
            self.counts["teams"] += 1
            self.colleague = Colleague(make_colleague(self.work), self.client)
        self.work.sign_in(self.context)
        self.page = self.context.new_page()
        self.page.goto(self.site.server.url)
        self.page.goto(self.work.url)
        self.said = []
        ready(self.page)

    def is_over(self) -> bool:
        """Return whether the query is finished; who waits for the team gets the next pair."""
        while self.colleague is not None and self.page.locator("#waits").count():
            self.counts["waits"] += 1
            self.random.choice([self.colleague.answer, self.colleague.leave])()
            looks_again(self.page)
            self.page.wait_for_function(
                "() => !document.querySelector('#waits') || isTimed(5000)"  # it waits once more
            )
            self.page.wait_for_load_state()
            if self.page.locator("#answers").count():
                ready(self.page)
        return self.page.locator("#answers").count() == 0

    def grow(self) -> None:
        """Import further pages of the query; what is finished opens again."""
        self.counts["grown"] += 1
        self.pool.add(2)
        if self.is_over() or self.random.random() < 0.5:
            self.page.goto(self.work.url)
        if not self.is_over():
            ready(self.page)

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
                *([self.grow] if len(self.pool.pages) < 8 else []),
                *([self.colleague.answer] if self.colleague else []),
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
) -> Counter[str]:
    """Give at least ``answers`` answers; count the entries compared with the log, and the rest.

    With ``restart``, which closes the browser and starts it again, it also restores its session.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        client = stack.enter_context(httpx.Client(base_url=site.server.url, timeout=None))
        this = Walk(site, context, Random(seed), folder, client, restart)
        while this.answers < answers:
            this.begin()
            _to_the_end(this, answers)
            if this.is_over() and this.random.random() < 0.3:
                this.grow()
                _to_the_end(this, answers)
            recorded = this.recorded()
            assert recorded == this.said
            this.counts["entries"] += len(recorded)
            this.page.close()
    return this.counts


def _to_the_end(this: Walk, answers: int) -> None:
    """Answer, and do other things, until the query is finished or there are enough answers."""
    while this.answers < answers and not this.is_over():
        this.answer()
        if not this.is_over() and this.random.random() < 0.6:
            this.step()
