"""The owner of an API token."""

from fastapi import APIRouter
from pydantic import BaseModel

from topkapi.app.domain.enums import Role
from topkapi.app.web.access.deps import ApiUser

router = APIRouter(prefix="/api/v1", tags=["account"])


class Me(BaseModel):
    """The owner of the token."""

    id: int
    email: str
    name: str
    role: Role


@router.get("/me")
def get_me(user: ApiUser) -> Me:
    """Return the owner of the token that was sent."""
    return Me(id=user.id, email=user.email, name=user.name, role=user.role)
