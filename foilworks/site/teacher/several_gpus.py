"""Use several GPUs for one training: torchrun next to the job; its first process reports progress line by line.

Only the job writes into the database; if it is cancelled or dies, so do the processes.
"""

import json
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from os import getpgid, killpg
from pathlib import Path
from typing import IO, Any

from django.conf import settings

from evaluation.errors import EvaluationError
from foilworks.site.teacher.training import StepReport

PROGRESS_PREFIX = "teacher: "
MESSAGE_PREFIX = "foilworks: "
OnReport = Callable[[StepReport, dict[str, float] | None], None]


def train_together(lesson: Any, work: Path, on_report: OnReport) -> None:
    """Start `foilworks teacher rank` in `processes` processes and pass on their messages. EvaluationError: they failed,
    with the first of their messages.
    """
    training = lesson.training
    command = [
        settings.FOILWORKS_PYTHON,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        str(training.params["processes"]),
        "-m",
        "django",
        "teacher",
        "rank",
        "--training",
        str(training.pk),
        "--settings",
        "foilworks.site.settings",
    ]
    with tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True)
        assert child.stdout is not None
        try:
            for report, curve in _lines(child.stdout):
                on_report(report, curve)
            status = child.wait()
        finally:
            with suppress(ProcessLookupError):
                killpg(getpgid(child.pid), signal.SIGTERM)
        if status:
            raise EvaluationError(_why(errors, training.params["processes"]))


def report_line(report: StepReport, curve: dict[str, float] | None) -> str:
    """Handle a line of the first process."""
    return PROGRESS_PREFIX + json.dumps({**asdict(report), "curve": curve})


def _lines(out: IO[str]) -> Iterator[tuple[StepReport, dict[str, float] | None]]:
    for line in out:
        if line.startswith(PROGRESS_PREFIX):
            raw = json.loads(line.removeprefix(PROGRESS_PREFIX))
            curve = raw.pop("curve")
            yield StepReport(**raw), curve


def _why(errors: IO[str], processes: int) -> str:
    errors.seek(0)
    lines = [line.strip() for line in errors]
    own = next((line.removeprefix(MESSAGE_PREFIX) for line in lines if line.startswith(MESSAGE_PREFIX)), "")
    return own or f"{processes} processes: they ended early; see the log of the worker, or set processes=1"
