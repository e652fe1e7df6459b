"""The owner of an API token."""

from fastapi import APIRouter

from topkapi.app.web.access.deps import ApiUser
from topkapi.app.web.common.views import PersonView

router = APIRouter(prefix="/api/v1", tags=["account"])


@router.get("/me")
def get_me(user: ApiUser) -> PersonView:
    """Return the owner of the token that was sent."""
    return user
