"""One POST to an OpenAI-compatible chat endpoint. The only module that knows the HTTP client.

Endpoints differ in what they accept. What one refuses is left out or named otherwise and asked
again, once for all later requests; the key goes into a header and nowhere else.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Lock
from typing import Any

import httpx

from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.machines.replies import ReplyForm, schema_of
from topkapi.app.domain.text.storable import storable

MOST_REPLY_BYTES = 1_000_000
_MOST_TOKENS = 10**9  # of one reply; more is a mistake of the endpoint
_CUT = "length"  # the reason of a reply that ended at its limit


class EndpointRefused(Invalid):
    """The endpoint accepts no request like this: address, key, model or a parameter is wrong.

    ``is_final``: another form of the request is refused as well.
    """

    def __init__(self, why: str, *, is_final: bool = True) -> None:
        super().__init__(why, field="endpoint")
        self.is_final = is_final


class EndpointBusy(Exception):
    """Try again, after ``seconds`` if the endpoint says so: overload, an error, no reply."""

    def __init__(self, why: str, seconds: float | None = None) -> None:
        super().__init__(why)
        self.seconds = seconds


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: the text, empty if the model refused or was cut, and what it cost."""

    text: str
    problem: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    version: str = ""
    latency_ms: int = 0


@dataclass(slots=True)
class Endpoint:
    """A model at an address; ``key`` is never part of its printed form."""

    address: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 120.0
    most_tokens: int = 1000
    temperature: float | None = None
    form: ReplyForm = ReplyForm.SCHEMA
    _limit: str | None = "max_completion_tokens"
    _client: httpx.Client = field(init=False, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def __post_init__(self) -> None:
        if not (self.key.isascii() and self.key.isprintable()):
            raise Invalid("The key has characters that cannot be sent: line breaks, or not ASCII.")
        base = self.address.rstrip("/")
        self.address = base if base.endswith("/chat/completions") else f"{base}/chat/completions"
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        self._client = httpx.Client(headers=headers, timeout=self.timeout)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    @property
    def parameters(self) -> dict[str, Any]:
        """What identifies a request beside its prompt."""
        return {
            "form": self.form.value,
            "most_tokens": self.most_tokens,
            "temperature": self.temperature,
        }

    def ask(self, messages: Sequence[dict[str, str]], values: Sequence[str], key: str) -> Reply:
        """Send a request and return the reply; ``key`` identifies it, for endpoints that use it."""
        while True:
            limit = self._limit
            body = self._body(messages, values, limit)
            started = time.monotonic()
            status, headers, text = self._post(body, key)
            if status == 200:
                return _reply(text, round(1000 * (time.monotonic() - started)))
            if status == 400 and limit is not None and limit in text:
                with self._lock:  # another request may have found it out already
                    if self._limit == limit:
                        self._limit = "max_tokens" if limit != "max_tokens" else None
                continue
            raise _failure(status, headers, text)

    def _body(
        self, messages: Sequence[dict[str, str]], values: Sequence[str], limit: str | None
    ) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self.model, "messages": list(messages)}
        if limit is not None:
            body[limit] = self.most_tokens
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if self.form is ReplyForm.SCHEMA:
            schema = {"name": "judgment", "strict": True, "schema": schema_of(values)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif self.form is ReplyForm.OBJECT:
            body["response_format"] = {"type": "json_object"}
        return body

    def _post(self, body: dict[str, Any], key: str) -> tuple[int, httpx.Headers, str]:
        """Post and read at most a megabyte; raise EndpointBusy if nothing complete came back."""
        try:
            sent = self._client.stream(
                "POST", self.address, json=body, headers={"Idempotency-Key": key}
            )
            with sent as response:
                parts, size = [], 0
                for part in response.iter_bytes():
                    size += len(part)
                    if size > MOST_REPLY_BYTES:
                        raise EndpointBusy("The reply was larger than a megabyte.")
                    parts.append(part)
                text = self._without_key(b"".join(parts).decode(errors="replace"))
                return response.status_code, response.headers, text
        except httpx.HTTPError as error:
            raise EndpointBusy(f"The endpoint did not reply ({type(error).__name__}).") from None
        except httpx.InvalidURL:
            raise EndpointRefused(f"{self.address} is no address.") from None

    def _without_key(self, text: str) -> str:
        """Return a body without the key, also if it is spelt as in JSON, or JSON within JSON."""
        if not self.key:
            return text
        try:
            text = json.dumps(json.loads(text), ensure_ascii=False)
        except (ValueError, RecursionError):
            text = text.replace("\\/", "/")
        once = json.dumps(self.key)[1:-1]
        for spelt in (json.dumps(once)[1:-1], once, self.key):
            text = text.replace(spelt, "[key]")
        return text


def _reply(text: str, latency_ms: int) -> Reply:
    try:
        found = json.loads(text)
        choice, usage = found["choices"][0], found.get("usage") or {}
        message = choice["message"]
        content, refusal = message.get("content"), message.get("refusal")
        facts: dict[str, Any] = {
            "tokens_in": _tokens(usage.get("prompt_tokens")),
            "tokens_out": _tokens(usage.get("completion_tokens")),
            "version": storable(str(found.get("model") or ""))[:200],
            "latency_ms": latency_ms,
        }
    except (ArithmeticError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise EndpointBusy("The endpoint's reply is not a chat completion.") from None
    if refusal or not isinstance(content, str):
        return Reply(storable(str(refusal or "")), "the model refused", **facts)
    problem = "the reply was cut" if choice.get("finish_reason") == _CUT else ""
    return Reply(storable(content), problem, **facts)


def _tokens(told: Any) -> int:
    return min(max(0, int(told or 0)), _MOST_TOKENS)


def _failure(status: int, headers: httpx.Headers, text: str) -> Exception:
    told = storable(" ".join(text.split())[:300])
    if status == 429 or status >= 500 or status == 408:
        return EndpointBusy(f"The endpoint said {status}: {told}", _seconds(headers))
    final = status not in (400, 422)
    return EndpointRefused(f"The endpoint refused the request ({status}): {told}", is_final=final)


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
