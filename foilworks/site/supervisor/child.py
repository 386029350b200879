"""Start a child of the supervisor: `python -m foilworks.site.supervisor.child MODULE ARGUMENTS…`.

Runs the module as `python -m` would, and ends with its parent. The parent holds the other end of our standard input and
never writes to it, so when it ends, even by SIGKILL, we read an end of file.
"""

import os
import runpy
import signal
import sys
import threading
from pathlib import Path

STANDARD_INPUT = 0


def follow_parent() -> None:
    """Send ourselves SIGTERM when the parent has ended."""
    threading.Thread(target=_wait_for_the_end, name="follow-parent", daemon=True).start()


def _wait_for_the_end() -> None:
    while os.read(STANDARD_INPUT, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    follow_parent()
    # Appended, so that it hides no module of ours: gunicorn would put it first if it were missing.
    sys.path.append(str(Path.cwd()))
    module, *arguments = sys.argv[1:]
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
