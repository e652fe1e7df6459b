"""One POST to an OpenAI-compatible chat endpoint. The only module that knows the HTTP client.

Endpoints differ in what they accept. What one refuses is left out or named otherwise when the
request is tried again, and in all later ones. The key goes into a header; it is removed, however
it is spelt, from what is stored or shown.
"""

import json
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from re import Pattern
from typing import Any, Self

import httpx
from anyio import fail_after
from anyio.from_thread import BlockingPortal, start_blocking_portal

from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.machines.redaction import key_pattern
from topkapi.app.domain.machines.replies import ReplyForm, schema_of
from topkapi.app.domain.machines.spending import Usage
from topkapi.app.domain.text.storable import storable

MOST_REPLY_BYTES = 1_000_000
_MOST_TOKENS = 10**7  # of one reply; more is a mistake of the endpoint
_CONNECT_SECONDS = 10.0
_CUT = "length"  # the reason of a reply that ended at its limit
_LIMITS = {"max_completion_tokens": "max_tokens", "max_tokens": None}  # and the name to try next
_NOT_SENT, _NOT_BILLED = Usage(), Usage(requests=1)


class EndpointRefused(Invalid):
    """The endpoint accepts no request like this: address, key, model or a parameter is wrong.

    ``is_final``: another form of the request is refused as well.
    """

    def __init__(self, why: str, *, is_final: bool = True) -> None:
        super().__init__(why, field="endpoint")
        self.is_final = is_final


class EndpointBusy(Exception):
    """Try again, after ``seconds`` if the endpoint says so: overload, an error, no reply.

    ``spent`` is None if the endpoint may have billed the request.
    """

    def __init__(
        self, why: str, seconds: float | None = None, *, spent: Usage | None = None
    ) -> None:
        super().__init__(why)
        self.seconds, self.spent = seconds, spent


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What is sent, the name of its limit of tokens, and the most that it can be billed with."""

    body: bytes
    limit: str | None
    bound: Usage


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: the text as sent, empty if the model refused or was cut, and its usage.

    ``spent`` is None if the endpoint does not report it.
    """

    text: str
    problem: str = ""
    spent: Usage | None = None
    version: str = ""
    latency_ms: int = 0


@dataclass(slots=True)
class Endpoint:
    """A model at an address, to be used in a ``with`` block by any number of threads.

    ``key`` is never part of its printed form. ``timeout`` are the seconds for a whole request.
    """

    address: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 120.0
    most_tokens: int = 1000
    temperature: float | None = None
    form: ReplyForm = ReplyForm.SCHEMA
    limit: str | None = "max_completion_tokens"  # None: it accepts no limit of tokens
    _pattern: Pattern[str] | None = field(init=False, repr=False, default=None)
    _client: httpx.AsyncClient = field(init=False, repr=False)
    _portal: BlockingPortal = field(init=False, repr=False)
    _open: ExitStack = field(init=False, repr=False, default_factory=ExitStack)

    def __post_init__(self) -> None:
        if not (self.key.isascii() and self.key.isprintable()):
            raise Invalid(
                "The key contains line breaks or characters outside ASCII, which cannot be sent."
            )
        if self.key:
            self._pattern = key_pattern(self.key)
        base = self.address.rstrip("/")
        self.address = base if base.endswith("/chat/completions") else f"{base}/chat/completions"

    def __enter__(self) -> Self:
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        timeout = httpx.Timeout(None, connect=_CONNECT_SECONDS)
        self._client = httpx.AsyncClient(headers=headers, timeout=timeout)
        self._portal = self._open.enter_context(start_blocking_portal())
        self._open.callback(self._portal.call, self._client.aclose)
        return self

    def __exit__(self, *_error: object) -> None:
        self._open.close()

    @property
    def parameters(self) -> dict[str, Any]:
        """What identifies a request beside its prompt."""
        return {
            "form": self.form.value,
            "most_tokens": self.most_tokens,
            "temperature": self.temperature,
        }

    def request(self, messages: Sequence[dict[str, str]], values: Sequence[str]) -> ChatRequest:
        """Return a request; no tokenizer makes more tokens of it than it has bytes."""
        body: dict[str, Any] = {"model": self.model, "messages": list(messages)}
        limit = self.limit
        if limit is not None:
            body[limit] = self.most_tokens
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if self.form is ReplyForm.SCHEMA:
            schema = {"name": "judgment", "strict": True, "schema": schema_of(values)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif self.form is ReplyForm.OBJECT:
            body["response_format"] = {"type": "json_object"}
        written = json.dumps(body, ensure_ascii=False).encode()
        return ChatRequest(written, limit, Usage(1, 1, len(written), self.most_tokens))

    def ask(self, request: ChatRequest, key: str) -> Reply:
        """Send a request once; ``key`` identifies it, for endpoints that use it."""
        started = time.monotonic()
        status, headers, text = self._portal.call(self._post, request.body, key)
        if status == 200:
            return self._reply(text, round(1000 * (time.monotonic() - started)))
        if status == 400 and request.limit is not None and request.limit in text:
            if self.limit == request.limit:  # another request may have found it out already
                self.limit = _LIMITS[request.limit]
            why = f"The endpoint does not accept {request.limit}."
            raise EndpointBusy(why, 0.0, spent=_NOT_BILLED)
        raise self._failure(status, headers, text)

    async def _post(self, body: bytes, key: str) -> tuple[int, httpx.Headers, str]:
        """Post and read at most a megabyte; raise EndpointBusy if nothing complete came back."""
        headers = {"Idempotency-Key": key, "Content-Type": "application/json"}
        try:
            with fail_after(self.timeout):
                sent = self._client.stream("POST", self.address, content=body, headers=headers)
                async with sent as response:
                    parts, size = [], 0
                    async for part in response.aiter_bytes():
                        size += len(part)
                        if size > MOST_REPLY_BYTES:
                            raise EndpointBusy("The reply was larger than a megabyte.")
                        parts.append(part)
            text = b"".join(parts).decode(errors="replace")
            return response.status_code, response.headers, text
        except TimeoutError:
            raise EndpointBusy(f"No complete reply within {self.timeout:g} seconds.") from None
        except httpx.HTTPError as error:
            not_sent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
            why = f"The endpoint did not reply ({type(error).__name__})."
            raise EndpointBusy(why, spent=_NOT_SENT if not_sent else None) from None
        except httpx.InvalidURL:
            raise EndpointRefused(f"{self.address} is not a valid address.") from None

    def redacted(self, text: str) -> str:
        """Return a text that can be stored and shown: without the key."""
        return storable(text if self._pattern is None else self._pattern.sub("[key]", text))

    def _reply(self, text: str, latency_ms: int) -> Reply:
        try:
            sent = json.loads(text)
            choice = sent["choices"][0]
            message = choice["message"]
            content, refusal = message.get("content"), message.get("refusal")
            facts: dict[str, Any] = {
                "spent": _reported(sent.get("usage")),
                "version": self.redacted(str(sent.get("model") or ""))[:200],
                "latency_ms": latency_ms,
            }
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            raise EndpointBusy("The endpoint's reply is not a chat completion.") from None
        if refusal or not isinstance(content, str):
            return Reply(storable(str(refusal or "")), "the model refused", **facts)
        problem = "the reply was cut" if choice.get("finish_reason") == _CUT else ""
        return Reply(storable(content), problem, **facts)

    def _failure(self, status: int, headers: httpx.Headers, text: str) -> Exception:
        told = " ".join(self.redacted(text[:10_000]).split())[:300]
        if status in (408, 429) or status >= 500 or 200 < status < 300:
            spent = _NOT_BILLED if status == 429 else None
            return EndpointBusy(
                f"The endpoint replied {status}: {told}", _seconds(headers), spent=spent
            )
        final = status not in (400, 422)
        return EndpointRefused(
            f"The endpoint refused the request ({status}): {told}", is_final=final
        )


def _reported(usage: Any) -> Usage | None:
    """Return what a reply says it used; a total may have reasoning that is not in its parts."""
    try:
        sent, made = (int(usage[f"{name}_tokens"]) for name in ("prompt", "completion"))
        made = max(made, int(usage.get("total_tokens") or 0) - sent)
    except (ArithmeticError, ValueError, TypeError, LookupError, AttributeError):
        return None
    if sent < 1 or made < 1:  # some endpoints send zeros
        return None
    return Usage(1, 0, min(sent, _MOST_TOKENS), min(made, _MOST_TOKENS))


def _seconds(headers: httpx.Headers) -> float | None:
    """Return how long the endpoint asks to wait: a number of seconds, or a date."""
    told = headers.get("retry-after", "")
    try:
        return max(0.0, float(told))
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(told)
    except ValueError:
        return None
    return max(0.0, (until.astimezone(UTC) - datetime.now(UTC)).total_seconds())
