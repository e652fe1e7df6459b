"""The terms of a run: what a job stores. The key of the endpoint is not among them."""

from dataclasses import dataclass
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.machines.orders import Contradiction, Orders
from topkapi.app.domain.machines.spending import Cap, Prices

Price = Annotated[float | None, Field(ge=0, allow_inf_nan=False)]


def _plain_address(value: str) -> str:
    """Refuse an address that could hold a key, because runs store it."""
    parts = urlsplit(value)
    if (
        parts.scheme not in ("http", "https")
        or not parts.hostname
        or "@" in parts.netloc
        or parts.query
        or parts.fragment
    ):
        raise PydanticCustomError("address", "give http(s)://host/path and the key apart from it")
    return value


@dataclass(frozen=True, slots=True)
class Terms:
    """How a machine judges a study.

    Attributes
    ----------
    name
        The machine's name as an assessor; the model's unless another is given.
    most_chars
        Characters of pages in one prompt; longer pages are cut.
    most_tokens, temperature, timeout
        Limit of a reply, and what is sent only if it is set; seconds to wait for a reply.
    concurrency, interval
        Requests at the same time, and seconds between two of them.
    rounds
        How often a question without a readable reply is put.
    price_in, price_out, most_cost, most_requests
        Prices of a million tokens, and the most that the machine may spend in the study.
    """

    model: Annotated[str, Field(min_length=1, max_length=200)]
    endpoint: Annotated[str, Field(max_length=500), AfterValidator(_plain_address)]
    tools: Annotated[tuple[Tool, ...], Field(min_length=1)] = (Tool.PAIRS,)
    name: Annotated[str, Field(max_length=200)] = ""
    orders: Orders = Orders.BOTH
    contradiction: Contradiction = Contradiction.TIE
    most_chars: Annotated[int, Field(ge=200, le=2_000_000)] = 24_000
    most_tokens: Annotated[int, Field(ge=1, le=100_000)] = 1000
    temperature: Annotated[float | None, Field(ge=0, le=2)] = None
    timeout: Annotated[float, Field(gt=0, le=3600)] = 120.0
    concurrency: Annotated[int, Field(ge=1, le=64)] = 4
    interval: Annotated[float, Field(ge=0, le=3600)] = 0.0
    rounds: Annotated[int, Field(ge=1, le=10)] = 3
    price_in: Price = None
    price_out: Price = None
    most_cost: Price = None
    most_requests: Annotated[int | None, Field(ge=1)] = None

    @property
    def assessor(self) -> str:
        """The machine's name as an assessor."""
        return self.name or self.model

    @property
    def cap(self) -> Cap:
        """The most that the machine may spend in the study, over all runs."""
        return Cap(self.most_requests, self.most_cost, Prices(self.price_in, self.price_out))

    @classmethod
    def read(cls, stored: dict[str, Any]) -> Self:
        """Read terms; name the field that is wrong."""
        try:
            terms: Self = TypeAdapter(cls).validate_python(stored)
        except ValidationError as error:
            first = error.errors()[0]
            field = str(first["loc"][0]) if first["loc"] else ""
            raise Invalid(f"{field}: {first['msg']}.", field=field) from None
        if terms.most_cost is not None and (terms.price_in is None or terms.price_out is None):
            raise Invalid("A cap on the cost needs both prices.", field="most_cost")
        return terms

    def as_json(self) -> dict[str, Any]:
        """Return what a job stores."""
        written: dict[str, Any] = TypeAdapter(type(self)).dump_python(self, mode="json")
        return written
