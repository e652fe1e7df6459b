"""The form of a comparison of models."""

from typing import Annotated

from pydantic import Field

from topkapi.app.services.jobs.model_choice import CONSENSUS, ModelChoice
from topkapi.app.web.common.received import Received

Name = Annotated[str, Field(max_length=300)]


class ModelsForm(Received):
    """Ground truth, models and features as they were ticked."""

    truth: Annotated[str, Field(max_length=20)] = ""
    consensus: Annotated[str, Field(max_length=20)] = CONSENSUS[0]
    models: Annotated[list[Name], Field(max_length=100)] = Field(default_factory=list)
    features: Annotated[list[Name], Field(max_length=5000)] = Field(default_factory=list)

    def to_choice(self) -> ModelChoice:
        """Convert the form for the service."""
        return ModelChoice(self.truth, tuple(self.models), tuple(self.features), self.consensus)
