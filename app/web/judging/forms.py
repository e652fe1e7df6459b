"""Forms of the judging pages."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from topkapi.app.domain.log import EntryKind
from topkapi.app.domain.session import SubmittedAnswer
from topkapi.app.services.judging.labeling import Submission
from topkapi.app.web.common.received import Received
from topkapi.app.web.pages.page_links import PageLinks

Milliseconds = Annotated[int, Field(ge=0, le=10**12)]
Name = Annotated[str, Field(max_length=300)]


class EntryForm(Received):
    """An answer, undo or redo, with its position and the pages asked about.

    ``shown`` has the tokens of the pages that the frames really showed, in their order, separated
    by spaces; a browser without scripts sends none.
    """

    position: Annotated[int, Field(ge=0, le=2**31 - 1)]
    left: Name | None = None
    right: Name | None = None
    document: Name | None = None
    answer: Annotated[str, Field(max_length=100)] | None = None
    step: EntryKind | None = None
    shown: Annotated[str, Field(max_length=20_000)] = ""
    active_ms: Milliseconds = 0
    note: Annotated[str, Field(max_length=10_000)] = ""

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.answer is None) == (self.step is None) or self.step is EntryKind.ANSWER:
            raise ValueError("send an answer, or the step undo or redo")
        return self

    def to_submission(self, links: PageLinks) -> Submission:
        """Convert the form to a submission for the labeling service."""
        if self.answer is None:
            assert self.step is not None
            return Submission(self.position, self.step, active_ms=self.active_ms)
        answer = SubmittedAnswer(
            self.answer, left=self.left, right=self.right, document=self.document
        )
        return Submission(
            self.position,
            answer=answer,
            active_ms=self.active_ms,
            note=self.note.strip() or None,
            shown=tuple(map(links.document_of, self.shown.split())),
        )


class TermsForm(Received):
    """A term to highlight, or one to stop highlighting."""

    term: Annotated[str, Field(max_length=1000)] = ""
    drop: Annotated[str, Field(max_length=1000)] | None = None
