"""Whether a command runs: help and shell completion need its options, and nothing it imports.

The modules of commands import what only running needs under ``if TYPE_CHECKING or RUNNING``.
"""

import os
import sys

HELP, COMPLETE = "--help", "_TOPKAPI_COMPLETE"
RUNNING = HELP not in sys.argv and COMPLETE not in os.environ
