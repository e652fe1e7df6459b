"""Malformed requests: a seeded generator over every route of the application.

Each request starts from one that could be valid (a known study, the fields of the form, a real
position) and is then corrupted in one or more ways, so that many get past the first check.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import quote_from_bytes, unquote

from fastapi import FastAPI
from fastapi.routing import APIRoute, iter_route_contexts
from pydantic import BaseModel

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW")
KINDS = (
    b"application/json",
    b"application/x-www-form-urlencoded",
    b"multipart/form-data",
    b"multipart/form-data; boundary=x",
    b"text/csv",
    b"application/json; charset=utf-16",
    b"application/octet-stream",
    b"\xff/\xfe",
    b"",
)
TEXTS = (
    *(
        "",
        " ",
        "a",
        "0",
        "-1",
        "1",
        "2",
        "true",
        "null",
        "left",
        "undo",
        "pairs",
        "q0-d1",
        "tulips",
    ),
    *("\0", "a\0b", "\ud800", "\udfff", "\ufffe", "\u202e", "\U0001f33f", "é" * 300, "a" * 5000),
    *(str(2**31), str(2**63), str(10**40), "9" * 5000, "-" + "9" * 400, "1e400", "NaN", "Infinity"),
    *(
        "0x10",
        "1_000",
        "١٢",
        "1.5",
        "'; DROP TABLE users; --",
        "%",
        "_",
        "\\",
        "<script>",
        "{{ 1 }}",
    ),
    *(
        "../../etc/passwd",
        "//evil.example",
        "javascript:alert(1)",
        "a@b",
        "A@B.EXAMPLE",
        "\r\nX: y",
    ),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**40, 1.5, 1e308, float("nan")),
    *(float("inf"), [], [[]], {}, {"a": {}}, [None], ["a", 1], {"": ""}, {"\0": "\ud800"}),
)
RAW = (
    *(b"%00", b"%", b"%zz", b"%ff%fe", b"\xff\xfe", b"%ED%A0%80", b"%2e%2e%2f", b"%2F", b"..", b""),
    *(b"%F0%9F%8C%BF", b"%e2%80%ae", b"a" * 3000, b"a/" * 200, b";", b"%0d%0a", b"?", b"//", b"\\"),
    *(b"//%5Bx", b"%5B"),
)
HEADERS: tuple[tuple[bytes, bytes], ...] = (
    *((b"host", b""), (b"host", b"\xff"), (b"host", b"a b:99999999"), (b"host", b"[::1")),
    *(
        (b"hx-request", b"true"),
        (b"hx-current-url", b"http://[x"),
        (b"hx-request", b"\xff"),
        (b"range", b"bytes=0-1,5-,x"),
    ),
    *((b"cookie", b"=;;=\xff; topkapi_session=a.b.c; topkapi_visitor=\xff"), (b"cookie", b"\0")),
    *((b"cookie", b"topkapi_view=" + b"9" * 500), (b"accept", b"\xff"), (b"content-length", b"x")),
    *((b"content-length", b"-5"), (b"content-length", b"9" * 30), (b"x-forwarded-for", b"\xff,,")),
    *((b"authorization", b"Bearer"), (b"authorization", b"Bearer \xff"), (b"authorization", b"a")),
    *((b"authorization", b"Basic Og=="), (b"x-request-id", b"\xff" * 99), (b"origin", b"null")),
    *((b"x-csrf-token", b"\xff"), (b"x-csrf-token", b""), (b"expect", b"100-continue")),
    *((b"transfer-encoding", b"chunked"), (b"sec-fetch-dest", b"\xff"), (b"if-none-match", b'"')),
    *((b"content-encoding", b"gzip"), (b"accept-language", b"q=;" * 500), (b"referer", b"\0")),
)
UNDECLARED = {  # fields that a route reads from the request itself
    "/enter/{token}": ("PROLIFIC_PID", "SESSION_ID", "STUDY_ID", "workerId", "worker", "agree"),
    "/imports": ("queries", "candidates", "split", "name", "slug"),
}
FILE_SHARE = 0.1  # of all requests
PART = b"--x\r\nContent-Disposition: form-data"
WRONG_BODIES = (
    *(b"", b"null", b"[" * 20_000, b'{"a":' * 3_000 + b"1" + b"}" * 3_000, b"9" * 5_000),
    *(b'"' + b"a" * 100_000 + b'"', b"&".join([b"a=b"] * 2_000), b"-", b"\x00", b"--x--", b"{}"),
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A route: its methods and path, the fields of its query string and of its body."""

    methods: Sequence[str]
    path: str
    query: Sequence[str]
    body: Sequence[str]


@dataclass(slots=True)
class Sent:
    """One request as bytes; ``whole`` is whether the client stays until its body is sent."""

    method: str
    raw_path: bytes
    query: bytes = b""
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""
    whole: bool = True
    who: str = "nobody"

    @property
    def path(self) -> str:
        """The path as a server decodes it."""
        return unquote(self.raw_path.decode("latin-1"))

    def __str__(self) -> str:
        target = self.raw_path + (b"?" + self.query if self.query else b"")
        shown = [f"{self.method} {target[:300]!r} as {self.who}", *map(str, self.headers)]
        return "\n    ".join([*shown, f"body {self.body[:500]!r}{'' if self.whole else ', cut'}"])


def endpoints_of(app: FastAPI) -> list[Endpoint]:
    """Return every route of the application, including the mounted files."""
    found = [Endpoint(("GET",), "/static/{path}", ("v",), ())]
    for context in iter_route_contexts(app.routes):
        route = context.original_route
        if isinstance(route, APIRoute):
            query = [each.name for each in route.dependant.query_params]
            body = [name for each in route.dependant.body_params for name in _fields(each)]
            extra = UNDECLARED.get(str(context.path), ())
            query, body = [*query, *extra], [*body, *extra]
            found.append(Endpoint(sorted(context.methods or ()), str(context.path), query, body))
    return found


def _fields(param: Any) -> list[str]:
    kind = param.field_info.annotation
    is_model = isinstance(kind, type) and issubclass(kind, BaseModel)
    return list(kind.model_fields) if is_model else [param.name]


class Generator:
    """Draws requests; ``known`` contains valid values by field name, ``files`` by path."""

    def __init__(
        self,
        seed: str,
        endpoints: Sequence[Endpoint],
        known: Mapping[str, Sequence[Any]],
        files: Mapping[str, Sequence[bytes]],
    ) -> None:
        self._random = Random(seed)
        self._endpoints = endpoints
        self._known, self._files = known, files

    def draw(self, identities: dict[str, list[tuple[bytes, bytes]]]) -> Sent:
        """Draw one request of somebody in ``identities``."""
        random = self._random
        endpoint = random.choice(self._endpoints)
        if random.random() < FILE_SHARE:
            endpoint = random.choice([each for each in self._endpoints if each.path in self._files])
        method = random.choice(METHODS if random.random() < 0.1 else endpoint.methods)
        who = random.choice(sorted(identities))
        if random.random() < 0.6:  # somebody with access
            who = f"admin by {'token' if endpoint.path.startswith('/api/') else 'cookie'}"
        if endpoint.path.startswith(("/enter/", "/invitations/")) and random.random() < 0.6:
            who = "visitor"
        sent = Sent(method, self._path(endpoint), self._query(endpoint), list(identities[who]))
        sent.who = who
        self._fill_body(sent, endpoint)
        for _ in range(random.choice((0, 0, 0, 1, 2))):
            sent.headers.append(random.choice(HEADERS))
        sent.whole = random.random() > 0.02
        return sent

    def _path(self, endpoint: Endpoint) -> bytes:
        parts = []
        for part in endpoint.path.split("/"):
            name = part.strip("{}").partition(":")[0]
            parts.append(self._segment(name) if part.startswith("{") else part.encode())
        if self._random.random() < 0.05:
            parts.append(self._random.choice(RAW))
        return b"/".join(parts)

    def _segment(self, name: str) -> bytes:
        if name in self._known and self._random.random() < 0.75:
            return str(self._random.choice(self._known[name])).encode()
        if self._random.random() < 0.5:
            return self._random.choice(RAW)
        return _percent(self._random.choice(TEXTS))

    def _query(self, endpoint: Endpoint) -> bytes:
        random = self._random
        if random.random() < 0.05:
            return random.choice(RAW) + b"&=&&a=%"
        names = [name for name in endpoint.query if random.random() < 0.5]
        if random.random() < 0.2:
            names += [*names, "unknown"]
        return b"&".join(_percent(name) + b"=" + self._segment(name) for name in names)

    def _fill_body(self, sent: Sent, endpoint: Endpoint) -> None:
        random = self._random
        if sent.method in ("GET", "HEAD") and random.random() < 0.9:
            return
        if endpoint.path in self._files and sent.method == "POST" and random.random() < 0.8:
            self._fill_file(sent, endpoint)
            return
        fields = {name: self._value(name) for name in endpoint.body if random.random() < 0.9}
        if random.random() < 0.1:
            fields[random.choice(TEXTS)] = random.choice(VALUES)
        as_json = endpoint.path.startswith("/api/") != (random.random() < 0.05)
        sent.body = _json(fields) if as_json else self._form(fields)
        kind = KINDS[0 if as_json else 1]
        if random.random() < 0.2:
            sent.body = random.choice(SPOILS)(sent.body)
        elif random.random() < 0.1:
            sent.body = random.choice(WRONG_BODIES)
        if random.random() < 0.15:
            kind = random.choice(KINDS)
        sent.headers.append((b"content-type", kind))

    def _fill_file(self, sent: Sent, endpoint: Endpoint) -> None:
        """Send a file, whole, damaged or none at all, as the body or in a form."""
        random = self._random
        data = random.choice(self._files[endpoint.path])
        if random.random() < 0.7:
            data = random.choice(SPOILS)(data)
        for _ in range(random.choice((0, 0, 1, 5)) if data else 0):
            place = random.randrange(len(data))
            data = data[:place] + random.randbytes(1) + data[place + 1 :]
        if endpoint.path.startswith("/api/"):
            sent.body, kind = data, random.choice((b"application/zip", b"text/plain", *KINDS))
        else:
            name = b"files" if endpoint.path.endswith("systems") else b"file"
            head = (
                PART
                + b'; name="'
                + name
                + b'"; filename="'
                + _percent(str(self._value("filename")))
            )
            sent.body = head + b'"\r\n\r\n' + data + b"\r\n--x--\r\n"
            kind = KINDS[3]
        sent.headers.append((b"content-type", kind))

    def _value(self, name: str) -> Any:
        random = self._random
        if name in self._known and random.random() < 0.6:
            return random.choice(self._known[name])
        return random.choice(TEXTS if random.random() < 0.6 else VALUES)

    def _form(self, fields: dict[str, Any]) -> bytes:
        pairs = [
            (name, each)
            for name, value in fields.items()
            for each in (value if isinstance(value, list) else [value])
        ]
        if self._random.random() < 0.1:
            pairs += pairs
        return b"&".join(_percent(name) + b"=" + _percent(str(value)) for name, value in pairs)


def _percent(text: str) -> bytes:
    return quote_from_bytes(text.encode("utf-8", "surrogatepass")).encode()


def _json(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields).encode()


SPOILS: Sequence[Callable[[bytes], bytes]] = (
    lambda body: body[: len(body) // 2],
    lambda body: body + body,
    lambda body: b"\xff\xfe" + body,
    lambda body: b"\xef\xbb\xbf" + body,
    lambda body: b"[" + body + b"]",
    lambda body: body.replace(b'"', b"'"),
    lambda body: body.replace(b"=", b"=%zz%"),
    lambda body: body.replace(b":", b":\x00"),
    lambda body: PART + b'; name="file"; filename="a\x00.zip"\r\n\r\n' + body + b"\r\n--x--\r\n",
    lambda body: PART + b"\r\n\r\n" + body,
)
