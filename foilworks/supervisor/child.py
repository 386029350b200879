"""How a child of the supervisor starts: `python -m foilworks.supervisor.child MODULE ARGUMENTS…`.

It runs the module as `python -m` would, and ends with its parent: the parent holds the other end of our standard
input and never writes to it, so its end, even by SIGKILL, reaches us as an end of file.
"""

import os
import runpy
import signal
import sys
import threading
from pathlib import Path

STANDARD_INPUT = 0


def follow_parent() -> None:
    """Send ourselves SIGTERM when the parent is gone."""
    threading.Thread(target=_wait_for_the_end, name="follow-parent", daemon=True).start()


def _wait_for_the_end() -> None:
    while os.read(STANDARD_INPUT, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    follow_parent()
    # Last, where nothing of ours can be hidden: gunicorn would put it first if it were not there.
    sys.path.append(str(Path.cwd()))
    module, *arguments = sys.argv[1:]
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
