"""Prompts of a study: the built-in ones, or its own, of which every version is kept."""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from topkapi.app.db.models import MachinePrompt, Study
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.machines.prompts import BUILT_IN, checked_template
from topkapi.app.services import audit


@dataclass(frozen=True, slots=True)
class UsedPrompt:
    """A template in use; ``number`` 0 is the built-in one."""

    tool: Tool
    number: int
    text: str


def prompt_of(session: Session, study_id: int, tool: Tool) -> UsedPrompt:
    """Return the prompt of a study for a tool."""
    mine = select(MachinePrompt).where(
        MachinePrompt.study_id == study_id, MachinePrompt.tool == tool
    )
    own = session.scalar(mine.order_by(MachinePrompt.number.desc()).limit(1))
    return UsedPrompt(tool, own.number, own.text) if own else UsedPrompt(tool, 0, BUILT_IN[tool])


def save_prompt(
    session: Session, study: Study, tool: Tool, text: str, *, actor_id: int | None = None
) -> UsedPrompt:
    """Store a new version of a prompt; the same text again changes nothing."""
    current = prompt_of(session, study.id, tool)
    if checked_template(tool, text) == current.text:
        return current
    number = current.number + 1
    session.add(
        MachinePrompt(study_id=study.id, tool=tool, number=number, text=text, user_id=actor_id)
    )
    session.flush()
    audit.record(session, actor_id, "study.prompt", study.slug, tool=tool.value, number=number)
    return UsedPrompt(tool, number, text)


def prompt_texts(session: Session, study_id: int, tool: Tool) -> dict[int, str]:
    """Return every version of a study's own prompt by its number."""
    statement = select(MachinePrompt.number, MachinePrompt.text).where(
        MachinePrompt.study_id == study_id, MachinePrompt.tool == tool
    )
    return {row[0]: row[1] for row in session.execute(statement)}
