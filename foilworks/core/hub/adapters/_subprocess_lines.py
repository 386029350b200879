"""Run a program that answers each JSON line with one JSON line: start it, ask with a time limit, end it.

Its error output is stored in a file, so that messages can quote its last lines.
"""

import contextlib
import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from foilworks.core.hub.errors import HubError

GRACE_S = 2.0
MAX_OUTPUT_LENGTH = 200
# The program gets only these variables: it needs no keys of databases and endpoints.
INHERITED = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "CUDA_VISIBLE_DEVICES",
    "HF_HOME",
    "HF_HUB_OFFLINE",
    "TRANSFORMERS_OFFLINE",
    "OMP_NUM_THREADS",
)


class LinesError(HubError):
    """The program ended, was silent for too long, or wrote something that is not an answer. It no longer runs."""


class Program:
    """A program: `command` run in `folder`. Every failure ends it; create another `Program` for the next question."""

    def __init__(self, name: str, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        self.name = name
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the program)
        inherited = {key: os.environ[key] for key in INHERITED if key in os.environ}
        try:
            self._process = subprocess.Popen(
                list(command),
                cwd=folder,
                env={**inherited, **environment},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._words,
                start_new_session=True,
            )
        except OSError as error:
            self._words.close()
            raise LinesError(
                f"{name}: '{command[0]}' cannot be started ({error.strerror}); correct its command"
            ) from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin: IO[bytes] = self._process.stdin
        self._lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=_read, args=(self._process.stdout, self._lines), daemon=True).start()
        self._finalizer = weakref.finalize(self, _end, self._process, self._words)

    def ask(self, question: Mapping[str, Any] | None, timeout_s: float) -> dict[str, Any]:
        """Return the answer to `question` (None: the line that the program writes first). LinesError: the program is
        ended."""
        if question is not None:
            try:
                self._stdin.write(json.dumps(question).encode() + b"\n")
                self._stdin.flush()
            except OSError as error:
                raise self._failed(self._end_reason()) from error
        try:
            line = self._lines.get(timeout=timeout_s)
        except queue.Empty as error:
            raise self._failed(f"it did not answer within {timeout_s:g} s; give it more time (timeout_s)") from error
        if not line:
            raise self._failed(self._end_reason())
        try:
            answer = json.loads(line)
        except ValueError as error:
            output = line.decode(errors="replace").strip()[:MAX_OUTPUT_LENGTH]
            raise self._failed(f"it wrote '{output}', which is not a JSON line; print logs to stderr") from error
        if not isinstance(answer, dict):
            raise self._failed(f"it wrote {str(answer)[:MAX_OUTPUT_LENGTH]}, which is not a JSON object")
        return answer

    def end(self) -> None:
        """End the program and every process that it started."""
        self._finalizer()

    def _end_reason(self) -> str:
        try:
            code = self._process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            return "it closed its output; keep it open as long as questions come"
        why = f"was killed ({signal.Signals(-code).name})" if code < 0 else f"ended with exit status {code}"
        return f"its process {why}"

    def _failed(self, why: str) -> LinesError:
        _kill(self._process)
        words = self._last_output()
        self.end()
        return LinesError(f"{self.name}: {why}{f'; its last words: {words}' if words else ''}")

    def _last_output(self) -> str:
        self._words.seek(0)
        lines = self._words.read()[-4096:].decode(errors="replace").strip().splitlines()
        return lines[-1][:MAX_OUTPUT_LENGTH] if lines else ""


def _read(source: IO[bytes], lines: "queue.Queue[bytes]") -> None:
    """Pass every line on; an empty one at the end."""
    with source:
        for line in source:
            lines.put(line)
    lines.put(b"")


def _end(process: "subprocess.Popen[bytes]", words: IO[bytes]) -> None:
    _kill(process)
    words.close()
    with contextlib.suppress(OSError):
        if process.stdin is not None:
            process.stdin.close()


def _kill(process: "subprocess.Popen[bytes]") -> None:
    # Its whole session, so that workers that it started end as well.
    for signal_number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal_number)
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            continue
        break
