"""Signing in with an account elsewhere: OpenID Connect, authorization code with PKCE.

The provider says who a person is; accounts are created here, by invitation. The first sign-in
finds the account by the verified e-mail address, and links it to issuer and subject.
"""

import re
import secrets
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import httpx

from topkapi.app.domain.errors import Forbidden, Invalid
from topkapi.app.services.accounts.users import EMAIL
from topkapi.extras import LazyModule

httpx_client = LazyModule("authlib.integrations.httpx_client", "oidc", "Authlib")
claims = LazyModule("authlib.oidc.core", "oidc", "Authlib")
jwt = LazyModule("joserfc.jwt", "oidc", "Authlib")
jwk = LazyModule("joserfc.jwk", "oidc", "Authlib")

SECONDS = 5.0  # for a reply of the provider
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA")  # of signatures
MALFORMED = (httpx.HTTPError, KeyError, ValueError, TypeError, AttributeError)  # replies
_REFUSED = "The sign-in at the other site failed. Try again."
_SUBJECT = re.compile(r"[ -~]{1,255}")  # printable ASCII, as long as the standard allows


@dataclass(frozen=True, slots=True)
class PendingSignIn:
    """What a browser keeps, signed, until the provider sends it back."""

    state: str
    nonce: str
    verifier: str
    next: str


@dataclass(frozen=True, slots=True)
class Identity:
    """A person at a provider: issuer and subject in one string, and their verified address."""

    openid: str
    email: str


@dataclass(frozen=True)
class Provider:
    """An OpenID provider at which this server is registered as ``client_id``."""

    issuer: str
    client_id: str
    client_secret: str

    @cached_property
    def _metadata(self) -> dict[str, Any]:
        address = f"{self.issuer.rstrip('/')}/.well-known/openid-configuration"
        found: dict[str, Any] = _json(address)
        if found.get("issuer") != self.issuer:
            raise Invalid("The provider's issuer is not the one of TOPKAPI_OIDC_ISSUER.")
        return found

    def begin(self, redirect_uri: str, next: str) -> tuple[str, PendingSignIn]:
        """Return the address at which a person signs in, and what to remember meanwhile."""
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        pending = PendingSignIn(state, nonce, verifier, next)
        with self._client(redirect_uri) as client:
            address, _ = client.create_authorization_url(
                self._metadata["authorization_endpoint"],
                state=pending.state,
                nonce=pending.nonce,
                code_verifier=pending.verifier,
            )
        return str(address), pending

    def identity(
        self, pending: PendingSignIn, redirect_uri: str, code: str, state: str
    ) -> Identity:
        """Exchange the code; return who signed in, or raise Forbidden."""
        if not secrets.compare_digest(state.encode(), pending.state.encode()):
            raise Forbidden(_REFUSED)
        from authlib.common.errors import AuthlibBaseError
        from joserfc.errors import JoseError

        try:
            with self._client(redirect_uri) as client:
                endpoint = self._metadata["token_endpoint"]
                token = client.fetch_token(endpoint, code=code, code_verifier=pending.verifier)
            found = self._claims(token["id_token"], pending.nonce)
        except (AuthlibBaseError, JoseError, *MALFORMED):
            raise Forbidden(_REFUSED) from None
        return self._identity(found)

    def _identity(self, found: dict[str, Any]) -> Identity:
        """Return the person of some claims; some providers send a boolean as a string."""
        subject, email, verified = (found.get(n) for n in ("sub", "email", "email_verified"))
        if not isinstance(subject, str) or not _SUBJECT.fullmatch(subject):
            raise Forbidden(_REFUSED)
        if verified is not True and verified != "true":
            raise Forbidden("The other site has not verified your e-mail address.")
        if not isinstance(email, str) or not email.isascii() or not EMAIL.fullmatch(email):
            raise Forbidden(
                "Your e-mail address at the other site is not one that Topkapi accepts."
            )
        return Identity(f"{self.issuer} {subject}", email.lower())

    def _claims(self, id_token: str, nonce: str) -> dict[str, Any]:
        """Return the claims of a token whose signature, issuer, audience and nonce are right."""
        keys = jwk.KeySet.import_key_set(_json(self._metadata["jwks_uri"]))
        read = jwt.decode(id_token, keys, algorithms=list(ALGORITHMS))
        options = {
            "iss": {"essential": True, "value": self.issuer},
            "aud": {"essential": True, "value": self.client_id},
        }
        params = {"nonce": nonce, "client_id": self.client_id}
        found = claims.CodeIDToken(read.claims, read.header, options, params)
        found.validate(leeway=60)
        return dict(found)

    def _client(self, redirect_uri: str) -> Any:
        return httpx_client.OAuth2Client(
            self.client_id,
            self.client_secret,
            scope="openid email",
            redirect_uri=redirect_uri,
            code_challenge_method="S256",
            timeout=SECONDS,
        )


def _json(address: str) -> Any:
    return httpx.get(address, timeout=SECONDS).raise_for_status().json()
