"""A small OpenID provider for tests: everybody is signed in as ``email``, without being asked."""

import json
import secrets
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "topkapi", "a secret of the client"


class OpenIdProvider:
    """What the provider says, and what it was asked; tests change ``claims``."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self.email = "nobody@example.org"
        self.claims: dict[str, Any] = {}
        self.tokens: Any = {}  # replaces parts of the token reply; anything but a dictionary, all
        self.key = self.published = RSAKey.generate_key(2048, {"kid": "one"})
        self._codes: dict[str, dict[str, str]] = {}

    def authorize(self, asked: dict[str, str]) -> str:
        """Return where the browser is sent, with a code."""
        assert asked["client_id"] == CLIENT
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(8)
        self._codes[code] = asked
        sent = urlencode({"code": code, "state": asked["state"]})
        return f"{asked['redirect_uri']}?{sent}"

    def token(self, form: dict[str, str]) -> Any:
        """Return the tokens for a code, once, to who has the verifier."""
        asked = self._codes.pop(form["code"])
        digest = sha256(form["code_verifier"].encode()).digest()
        assert asked["code_challenge"] == urlsafe_b64encode(digest).rstrip(b"=").decode()
        assert asked["redirect_uri"] == form["redirect_uri"]
        now = int(time.time())  # seconds: the date of a token
        claims = {
            **{"iss": self.issuer, "aud": CLIENT, "sub": "1", "iat": now, "exp": now + 60},
            **{"nonce": asked["nonce"], "email": self.email, "email_verified": True},
            **self.claims,
        }
        id_token = jwt.encode({"alg": "RS256", "kid": "one"}, claims, self.key)
        if not isinstance(self.tokens, dict):
            return self.tokens
        return {"access_token": "x", "token_type": "Bearer", "id_token": id_token, **self.tokens}

    def metadata(self) -> dict[str, str]:
        """Return where what is."""
        names = {"authorization_endpoint": "authorize", "token_endpoint": "token"}
        places = {name: f"{self.issuer}/{path}" for name, path in names.items()}
        return {"issuer": self.issuer, "jwks_uri": f"{self.issuer}/keys", **places}


@contextmanager
def openid_provider() -> Iterator[OpenIdProvider]:
    """Run a provider on this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/authorize":
                asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
                self.send_response(302)
                self.send_header("Location", provider.authorize(asked))
                self.end_headers()
            elif parts.path == "/keys":
                self._send({"keys": [provider.published.as_dict(private=False)]})
            else:
                self._send(provider.metadata())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._send(provider.token({name: each[0] for name, each in parse_qs(body).items()}))

        def _send(self, found: object) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(found).encode())

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = OpenIdProvider(f"http://localhost:{server.server_address[1]}")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield provider
    server.shutdown()
    server.server_close()
