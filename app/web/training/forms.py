"""Forms of the training pages."""

from typing import Annotated

from pydantic import Field

from topkapi.app.domain.enums import Tool
from topkapi.app.domain.training.practice import PracticeQuestion
from topkapi.app.web.common.received import Received

Line = Annotated[str, Field(max_length=400)]
Text = Annotated[str, Field(max_length=10_000)]
ItemId = Annotated[int, Field(ge=1, le=2**31 - 1)]


class PracticeForm(Received):
    """An answer to a practice question."""

    item: ItemId
    answer: Annotated[str, Field(max_length=100)]


class QuestionForm(Received):
    """A practice question as typed; pages are ids of documents, several on lines of their own."""

    tool: Tool = Tool.PAIRS
    query: Text = ""
    description: Text = ""
    left: Text = ""
    right: Text = ""
    answer: Line = ""
    explanation: Text = ""

    def to_question(self) -> PracticeQuestion:
        """Return the question; a grade has only the left page."""
        return PracticeQuestion(
            tool=self.tool,
            query=self.query.strip(),
            description=self.description.strip(),
            left=tuple(self.left.split()),
            right=() if self.tool is Tool.GRADES else tuple(self.right.split()),
            answers=tuple(each.strip() for each in self.answer.split(",") if each.strip()),
            explanation=self.explanation.strip(),
        )
