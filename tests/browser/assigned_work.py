"""Assignments for browser tests: a person, a query, its pages, and a session cookie."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from playwright.sync_api import BrowserContext, FrameLocator, Page, expect
from sqlalchemy import select

from tests.factories import PASSWORD, make_content, make_user
from tests.live import LiveServer
from tests.waiting import until
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import (
    Assignment,
    Candidate,
    Document,
    JudgmentRow,
    Query,
    Study,
    TimerEvent,
    User,
)
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.study import StudySettings, stored_plan
from topkapi.app.installation.secret import load_secret
from topkapi.app.web.common.cookies import SESSION_COOKIE, Cookies

_NUMBERS = itertools.count(1)
_IS_SAVED = "() => Object.keys(localStorage).every(key => !key.startsWith('topkapi-outbox'))"
LONG_TEXT = "\n\n".join(f"Paragraph {number}. Water, cut, wrap, wait." for number in range(60))


@dataclass(frozen=True, slots=True)
class Body:
    """Content of one page of a query."""

    data: str
    media_type: str = "text/plain"


def plain_pages(count: int) -> list[Body]:
    """Return distinct plain texts, each longer than a screen."""
    return [
        Body(f"Page number {number} of {next(_NUMBERS)}.\n\n{LONG_TEXT}") for number in range(count)
    ]


@dataclass(frozen=True, slots=True)
class Site:
    """A running server and the sessions of its database."""

    server: LiveServer
    sessions: Sessions

    def cookie(self, user: User) -> Any:
        """Return the session cookie of a person."""
        secret = load_secret(self.server.secret_file)
        cookies = Cookies(secret, lifetime=timedelta(hours=72), secure=False)
        return {
            "name": SESSION_COOKIE,
            "value": cookies.session_token(user),
            "url": self.server.url,
            "httpOnly": True,
        }


@dataclass
class AssignedWork:
    """One assignment of an assessor, and its rows in the database."""

    site: Site
    user: User
    assignment: Assignment
    study: Study
    query: Query

    @property
    def url(self) -> str:
        return f"{self.site.server.url}/assignments/{self.assignment.id}"

    def open_page(self, context: BrowserContext) -> Page:
        """Open the judging page, signed in, with its pages shown and the next ones prefetched."""
        self.sign_in(context)
        page = context.new_page()
        page.goto(self.url)
        ready(page)
        return page

    def sign_in(self, context: BrowserContext) -> None:
        """Set the session cookie of this person, unless the browser has one."""
        if not any(cookie.get("name") == SESSION_COOKIE for cookie in context.cookies()):
            context.add_cookies([self.site.cookie(self.user)])

    def log(self) -> list[tuple[str, str | None]]:
        """Return kind and answer of every entry of the log."""
        return [(row.entry.value, row.answer) for row in self.rows()]

    def rows(self) -> Sequence[JudgmentRow]:
        statement = select(JudgmentRow).where(JudgmentRow.assignment_id == self.assignment.id)
        with self.site.sessions.read.begin() as session:
            return session.scalars(statement.order_by(JudgmentRow.position)).all()

    def events(self) -> list[tuple[str, str | None, int]]:
        """Return kind, reason and time of every timer event."""
        statement = select(TimerEvent).where(TimerEvent.assignment_id == self.assignment.id)
        with self.site.sessions.read.begin() as session:
            rows = session.scalars(statement.order_by(TimerEvent.id)).all()
            return [(row.kind.value, row.reason, row.active_ms) for row in rows]

    def events_so_far(self, count: int) -> list[tuple[str, str | None, int]]:
        """Wait for ``count`` events and return them; browsers report asynchronously."""
        return until(lambda: events if len(events := self.events()) >= count else [], "events")

    def age(self, ms: int) -> None:
        """Put everything back in time: the server accepts at most the time that has passed."""
        passed = timedelta(milliseconds=ms)
        own = Assignment.id == self.assignment.id
        with self.site.sessions.write.begin() as session:
            row = session.scalars(select(Assignment).where(own)).one()
            row.created_at -= passed
            row.last_entry_at = row.last_entry_at and row.last_entry_at - passed
            for event in session.scalars(select(TimerEvent).filter_by(assignment_id=row.id)):
                event.created_at -= passed

    def change(self, act: Callable[[Assignment], None]) -> None:
        """Change the assignment behind the browser's back."""
        with self.site.sessions.write.begin() as session:
            act(session.get_one(Assignment, self.assignment.id))


def make_assigned(
    site: Site,
    *,
    pages: Sequence[Body] | None = None,
    tool: Tool = Tool.PAIRS,
    text: str = "how to keep cut tulips upright",
    user: User | None = None,
    **settings: Any,
) -> AssignedWork:
    """Create a study of one query with ``pages`` (default: six texts), assigned to a new person."""
    number = next(_NUMBERS)
    rules = StudySettings(**{"k": 3, "tools": (Tool.PAIRS, Tool.GRADES), **settings})
    with site.sessions.write.begin() as session:
        person = user or make_user(
            session, email=f"ansa{number}-{id(site)}@example.org", password=PASSWORD
        )
        study = Study(
            slug=f"study-{number}-{id(site)}",
            name="Everyday questions",
            guidelines="# How to judge\n\nPrefer the page that **helps**.",
            settings=rules,
        )
        session.add(study)
        session.flush()
        query = Query(
            study_id=study.id,
            external_id="q",
            text=text,
            description="Someone has a vase of tulips on the table.",
            narrative="A good page says what to do now.",
            position=0,
        )
        session.add(query)
        session.flush()
        documents = []
        for index, body in enumerate(pages if pages is not None else plain_pages(6)):
            content = make_content(session, body.data, body.media_type)
            document = Document(
                study_id=study.id,
                external_id=f"d{index}",
                title=f"Title {index}",
                url=f"https://pages.example/{index}",
                content_hash=content.hash,
                path=f"pages/d{index}.html" if body.media_type == "text/html" else "",
            )
            session.add(document)
            session.flush()
            session.add(Candidate(query_id=query.id, document_id=document.id, position=index))
            documents.append(document.id)
        assignment = Assignment(
            user_id=person.id,
            query_id=query.id,
            tool=tool,
            plan=stored_plan(rules, tool, documents, "tulips"),
        )
        session.add(assignment)
        session.flush()
        return AssignedWork(site, person, assignment, study, query)


def make_colleague(work: AssignedWork) -> AssignedWork:
    """Assign the same query with the same plan to another person: both are a team."""
    with work.site.sessions.write.begin() as session:
        person = make_user(session, password=PASSWORD)
        assignment = Assignment(
            user_id=person.id,
            query_id=work.query.id,
            tool=work.assignment.tool,
            round=1,
            plan=work.assignment.plan,
        )
        session.add(assignment)
        session.flush()
        return replace(work, user=person, assignment=assignment)


def ready(page: Page) -> None:
    """Wait until the pages are shown, the clock runs and the next pages are prefetched."""
    page.wait_for_function(
        """() => {
          const form = document.querySelector('#answers');
          const position = form?.elements.position?.value;
          return position && form.dataset.ahead === position && form.dataset.seen === position
            && [...document.querySelectorAll('.frames iframe')].every(f => f.dataset.ready === '1');
        }"""
    )


def pair_of(page: Page) -> tuple[str, str]:
    """Return the titles of the two pages on the screen."""
    return page.inner_text("#left-title h2"), page.inner_text("#right-title h2")


def question_of(page: Page) -> str:
    """Return position and pages of the question on the screen."""
    fields = page.locator("#entry input").evaluate_all(
        "all => all.map(x => x.name + '=' + x.value)"
    )
    return "&".join(fields)


def asked_of(page: Page) -> list[str]:
    """Return the names of the pages that the open question is about."""
    fields = page.locator("#entry input:not([name=position])")
    return [str(value) for value in fields.evaluate_all("all => all.map(x => x.value)")]


def read_of(page: Page) -> list[str]:
    """Return the names of pages such as those of `plain_pages` by the text in the frames.

    In a PDF every word is an element.
    """
    texts = page.evaluate(
        """() => [...document.querySelectorAll('.frames iframe:not(.frame--next)')]
          .map(frame => (frame.contentDocument?.body?.innerText ?? '').replace(/\\s+/g, ' '))"""
    )
    return [f"d{text.partition('Page number ')[2].partition(' ')[0]}" for text in texts]


def shows_what_it_asks(page: Page) -> None:
    """Wait until the page can be answered; its frames show the pages of the question."""
    ready(page)
    assert read_of(page) == asked_of(page)


def moved_on(page: Page, before: str) -> None:
    """Wait until another question than ``before`` is shown, or the result."""
    page.wait_for_function(
        """before => !document.querySelector('#entry') || before !==
        [...document.querySelectorAll('#entry input')]
          .map(x => x.name + '=' + x.value).join('&')
        """,
        arg=before,
    )
    seen(page)


def settled(page: Page) -> None:
    """Wait until what the page does after it has painted, and when it is idle, has had its turn.

    Frames, timers and idle callbacks run in the order in which they were asked for.
    """
    page.evaluate(
        """async () => {
          const turn = (ask) => new Promise((done) => ask(done));
          for (let i = 0; i < 2; i += 1) await turn(requestAnimationFrame);
          await turn(setTimeout);
          for (let i = 0; i < 3; i += 1) await turn(requestIdleCallback);
        }"""
    )


def happened(page: Page, condition: Callable[[], object], what: str = "an event") -> None:
    """Wait for what routes and listeners note: they are called while the page is asked."""
    until(lambda: page.evaluate("true") and condition(), what)


def frame_of(page: Page, side: str) -> FrameLocator:
    """Return the frame shown on a side."""
    return page.frame_locator(f"#{side}-frames iframe:not(.frame--next)")


def select_text(page: Page, box: str, text: str) -> None:
    """Select the first occurrence of ``text`` in the page shown in ``box``."""
    page.evaluate(
        """([box, text]) => {
          const frame = document.querySelector(`${box} iframe:not(.frame--next)`);
          const page = frame.contentDocument;
          const walker = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
          for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            const at = node.data.indexOf(text);
            if (at < 0) continue;
            page.getSelection().setBaseAndExtent(node, at, node, at + text.length);
            return;
          }
          throw new Error(`not in the page: ${text}`);
        }""",
        [box, text],
    )


def answered(page: Page, count: int) -> None:
    """Wait until the progress bar shows ``count`` answers."""
    expect(page.locator("#progress")).to_have_attribute("aria-valuenow", str(count))
    seen(page)


def seen(page: Page) -> None:
    """Wait until the question on the screen, if there is one, can be answered."""
    page.wait_for_function(
        """() => {
          const form = document.querySelector('#answers');
          if (!form?.dataset.assignment || !matchMedia('(scripting: enabled)').matches) return true;
          return form.dataset.seen === form.elements.position.value;
        }"""
    )


def press(page: Page, key: str, count: int) -> None:
    """Answer by key once that is possible; wait until the answer is saved and counted."""
    seen(page)
    page.keyboard.press(key)
    answered(page, count)
    saved(page)


def saved(page: Page) -> None:
    """Wait until no answer is pending."""
    page.wait_for_function(_IS_SAVED)


def sent_again(page: Page) -> None:
    """Let time pass until what could not be sent is saved.

    While an answer is on its way, the page times how slow the server is; that is not prolonged.
    """
    tried = f"() => {{ if (!isTimed(3000)) passTime(9000); return ({_IS_SAVED})(); }}"
    until(lambda: page.evaluate(tried), "the answers to be saved")
