"""A chat endpoint on this machine that replies like a model, fails like real ones, and bills."""

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import inf
from threading import Lock, Thread
from typing import Any

Model = Callable[[str], str]  # prompt -> value
_VALUES = re.compile(r'"answer" is one of: ([^.]+)\.|these words and nothing else: ([^.]+)\.')
_SIDES = re.compile(
    r"(?:Page|List) A:\n<<<(\w+)\n(.*?)\n\1>>>\n\n(?:Page|List) B:\n<<<\1\n(.*?)\n\1>>>", re.S
)
_NUMBER = re.compile(r"-d(\d+) ")
USUAL = {"prompt_tokens": 100, "completion_tokens": 5}


def sides_of(prompt: str) -> tuple[str, str]:
    """Return the two pages or lists of a prompt."""
    found = _SIDES.search(prompt)
    assert found is not None
    return found[2], found[3]


def values_of(prompt: str) -> list[str]:
    """Return the values that a prompt asks for."""
    found = _VALUES.search(prompt)
    assert found is not None
    return (found[1] or found[2]).split(", ")


def relevance(text: str) -> int:
    """Return how good a page or the first page of a list is: the number in its text."""
    found = _NUMBER.search(text)
    assert found is not None
    return int(found[1])


def honest(prompt: str) -> str:
    """Prefer the page with the greater number; give grades by it."""
    values = values_of(prompt)
    if values == ["A", "B"] and "alphabet" in prompt:
        return "A"
    if "Page A:" in prompt or "List A:" in prompt:
        left, right = map(relevance, sides_of(prompt))
        return "A" if left >= right else "B"
    return values[relevance(prompt) % len(values)]


@dataclass
class Fault:
    """What happens to a request instead of a reply: a status, or a body.

    After the beginning of a reply in ``drip`` further bytes come slowly, and without end.
    """

    status: int = 200
    body: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drip: str = ""


@dataclass
class ChatEndpoint:
    """What the endpoint is told to do, and what it saw.

    ``refuses`` are names of parameters, or kinds of response formats, that it does not know;
    ``faults`` says what happens to the request with a number; a call, with its second question,
    suffers at most ``most_faults``, so that no thread meets all that are meant for several.
    Every request is billed but those that it refuses (4xx), with the ``tokens`` in and out for its
    number and size in bytes; a reply ``reports`` them, if the request with this number does.
    """

    model: Model = honest
    refuses: tuple[str, ...] = ()
    faults: Callable[[int], Fault | None] = lambda _number: None
    most_faults: float = inf
    tokens: Callable[[int, int], tuple[int, int]] = lambda _number, _size: (100, 5)
    reports: Callable[[int], bool] = lambda _number: True
    key: str = "sk-secret-of-the-test"
    address: str = ""
    requests: int = 0
    suffered: Counter[str] = field(default_factory=Counter)  # faults, by call
    paid: Counter[str] = field(default_factory=Counter)  # by idempotency key
    prompts: list[str] = field(default_factory=list)
    billed: list[tuple[int, int]] = field(default_factory=list)  # tokens in and out
    lock: Lock = field(default_factory=Lock)

    def cost(self, price_in: float, price_out: float) -> float:
        """Return the bill, at prices per million tokens."""
        return sum(price_in * sent + price_out * made for sent, made in self.billed) / 1e6

    def reply(self, body: bytes, key: str, authorization: str) -> Fault:
        """Return what goes back for a request, and bill it."""
        with self.lock:
            self.requests += 1
            number = self.requests
        told = self._told(number, json.loads(body), key, authorization)
        if 400 <= told.status < 500:
            return told
        tokens = self.tokens(number, len(body))
        with self.lock:
            self.billed.append(tokens)
        return replace(told, body=_with_usage(told.body, tokens if self.reports(number) else None))

    def _told(self, number: int, sent: dict[str, Any], key: str, authorization: str) -> Fault:
        if self.key and authorization != f"Bearer {self.key}":
            return Fault(401, json.dumps({"error": {"message": f"bad key {authorization}"}}))
        kind = sent.get("response_format", {}).get("type")
        refused = [name for name in self.refuses if name in sent or name == kind]
        if refused:
            return Fault(400, json.dumps({"error": {"message": f"unsupported: {refused[0]}"}}))
        fault, call = self.faults(number), key.removesuffix("-2")
        if fault is not None and self.suffered[call] < self.most_faults:
            self.suffered[call] += 1
            return fault
        prompt = sent["messages"][0]["content"]
        answer = self.model(prompt)
        text = json.dumps({"answer": answer, "confidence": 80}) if kind else answer
        with self.lock:
            self.paid[key] += 1
            self.prompts.append(prompt)
        return Fault(body=completion(text))


def _with_usage(body: str | None, tokens: tuple[int, int] | None) -> str | None:
    """Return a completion with the tokens as its usage, or without usage; other bodies as is."""
    try:
        found = json.loads(body or "")
        usage = found.pop("usage")
    except (ValueError, LookupError, AttributeError, TypeError, RecursionError):
        return body
    if tokens is not None and usage == USUAL:
        usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    return json.dumps(found if tokens is None else {**found, "usage": usage})


def completion(text: str | None, **choice: Any) -> str:
    """Return the body of a chat completion."""
    message = {"role": "assistant", "content": text, **choice.pop("message", {})}
    return json.dumps(
        {
            "model": "fake-2026-11-01",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop", **choice}],
            "usage": USUAL,
        }
    )


@contextmanager
def serving_chat(endpoint: ChatEndpoint) -> Iterator[ChatEndpoint]:
    """Serve an endpoint; its address is set."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"]))
            key = self.headers.get("Idempotency-Key", "")
            told = endpoint.reply(sent, key, self.headers.get("Authorization", ""))
            time.sleep(told.delay)  # seconds: none in tests; `bench.machine_faults` waits
            while told.drip:  # until the client hangs up
                self.wfile.write(told.drip.encode())
                told = replace(told, drip="x")
                time.sleep(0.01)  # seconds: between two bytes
            body = (told.body or "").encode()
            self.send_response(told.status)
            for name, value in told.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_told: None  # type: ignore[method-assign] # clients are killed
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    endpoint.address = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
