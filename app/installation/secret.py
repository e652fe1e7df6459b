"""The secret that signs cookies and links: created at the first start, readable by its owner."""

import os
import secrets
import stat
from pathlib import Path

_BYTES = 32


class UnsafeSecret(Exception):
    """The secret file cannot be used as it is; the message says how to fix it."""


def load_secret(path: Path) -> str:
    """Read the secret at ``path``, creating it at the first start.

    The file is written under a temporary name and then linked to ``path``, so that of several
    processes that start at once all read the same secret, and none reads a half-written file.
    """
    if not path.exists():
        _create(path)
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        raise UnsafeSecret(f"{path} is readable by others (mode {mode:04o}); run: chmod 600 {path}")
    secret = path.read_text(encoding="ascii").strip()
    if len(secret) < 2 * _BYTES:
        raise UnsafeSecret(f"{path} is too short to be a secret; delete it to create a new one")
    return secret


def _create(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as stream:
            stream.write(secrets.token_hex(_BYTES) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        os.link(draft, path)
    except FileExistsError:
        pass  # another worker was first: use its secret
    finally:
        draft.unlink(missing_ok=True)
