"""Check the exports to evaluation harnesses against the released harnesses, each in an environment of its own.

    .venv/bin/python -m tests.corpus.harnesses --release ID --project SLUG

Exports the release, runs the tasks with the harness, imports its logs as a run would, and compares the accuracy with
what the harness printed. Needs the network to install the harnesses, or `--python NAME=PATH` of an environment that
has one. Exits with 1 if a number differs.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import django

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
PACKAGES = {"lmms-eval": ("lmms-eval", "filelock<3.20"), "inspect": ("inspect-ai",)}
RUNS = {"lmms-eval": "lmms_eval_run.py", "inspect": "inspect_run.py"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--project", required=True)
    parser.add_argument("--release", required=True)
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH")
    options = parser.parse_args()
    given = dict(one.split("=", 1) for one in options.python)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "foilworks.site.settings")
    django.setup()
    with tempfile.TemporaryDirectory() as work:
        checks = [_check(name, options, given.get(name), Path(work)) for name in RUNS]
    return 0 if all(checks) else 1


def _check(name: str, options: argparse.Namespace, python: str | None, work: Path) -> bool:
    """Print what the harness and Foilworks say about each task; False if they differ."""
    from django.conf import settings

    from evaluation.scoring.queries import records_of, release_named
    from foilworks.site.management.projects import project_by_slug

    folder, logs = work / name, work / f"{name}-logs"
    about = ["--project", options.project, "--release", options.release, "--out", str(folder)]
    subprocess.run([sys.executable, "manage.py", "export", name, *about], cwd=ROOT, check=True, capture_output=True)
    python = python or _installed(name, work / f"{name}-venv")
    environment = {**os.environ, "FOILWORKS_VIDEOS": str(settings.MEDIA_ROOT), "HF_HOME": str(work / "hub")}
    environment.pop("PYTHONPATH", None)
    command = [python, str(HERE / RUNS[name]), str(folder), str(logs)]
    told = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    printed = json.loads(next(line for line in told.splitlines() if line.startswith("RESULT ")).removeprefix("RESULT "))
    records = records_of(release_named(options.release, project_by_slug(options.project)))
    equal = True
    for task, accuracy in printed.items():
        path = Path(task) if name == "inspect" else next(logs.rglob(f"*_samples_{task}.jsonl"))
        ours = _imported(path, records)
        equal &= abs(ours - accuracy) < 1e-9
        print(f"{name:10} {path.stem[-50:]:50} harness {accuracy:.6f}  Foilworks {ours:.6f}")
    return equal


def _installed(name: str, folder: Path) -> str:
    venv.create(folder, with_pip=True)
    subprocess.run([folder / "bin" / "pip", "install", "-q", *PACKAGES[name]], check=True)
    return str(folder / "bin" / "python")


def _imported(path: Path, records: list) -> float:
    """Return T of the log, ties half, as a run with this score file computes it."""
    from evaluation.metrics.ties import hit, standing
    from evaluation.score_files.score_readers import AUTO, read_given

    data = read_given(path, AUTO, records)
    return float(hit(standing(data.main), "half").mean())


if __name__ == "__main__":
    raise SystemExit(main())
