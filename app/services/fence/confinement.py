"""Confinement by Landlock (Linux 5.13 or newer): a process can open libraries and nothing else."""

import ctypes
import os
import struct
import sys
from contextlib import suppress
from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # on every architecture
_VERSION, _BENEATH, _NO_NEW_PRIVILEGES = 1, 1, 38
_READ = 1 << 2 | 1 << 3  # files and directories
# Number of rights that each version of Landlock knows: files, TCP, and signals and sockets
_RIGHTS = {1: (13,), 2: (14,), 3: (15,), 4: (15, 2), 5: (16, 2), 6: (16, 2, 2)}


def confine() -> bool:
    """Let this process open nothing but the files of Python and of libraries, to read them.

    It can also start no program, and, as far as the system knows how, neither connect to others
    nor send them signals. Open files stay open. Returns False where there is no Landlock.
    """
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE_RULESET, None, 0, _VERSION)
    if version < 1:
        return False
    rights = [(1 << count) - 1 for count in _RIGHTS[min(version, max(_RIGHTS))]]
    handled = struct.pack(f"{len(rights)}Q", *rights)
    ruleset = libc.syscall(_CREATE_RULESET, handled, len(handled), 0)
    for path in _libraries():
        with suppress(OSError):  # most systems lack some of them
            opened = os.open(path, os.O_PATH)
            allowed = _READ if Path(path).is_dir() else 1 << 2
            libc.syscall(_ADD_RULE, ruleset, _BENEATH, struct.pack("=Qi", allowed, opened), 0)
            os.close(opened)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    confined = bool(libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0)
    os.close(ruleset)
    return confined


def _libraries() -> set[str]:
    """Return the folders of Python, of its packages and of the system's libraries."""
    ours = Path(__file__).resolve().parents[2]
    system = ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/nix/store", "/gnu/store")
    extra = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    return {*sys.path, sys.prefix, sys.base_prefix, str(ours), *system, *extra} - {""}
