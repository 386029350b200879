"""Makes a small database with the code of a tag, for the test of upgrades.

`python scripts/database_of_a_tag.py v0.1.0` checks the tag out beside the working tree, builds that version's own
sample project in a few clips, exports its release, and writes `<tag>.sql.gz` (SQLite's dump) and `<tag>.json` (what
that version said of it) to tests/foilworks/upgrade/. Run it once for every tag (v0.1.0 is commit 123aa43), in an
environment with [models]; what is there is never made again.
"""

import gzip
import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "tests" / "foilworks" / "upgrade"
# Runs in the tag's checkout: it names what that version has, so a later tag may need another text here.
BUILD = """
import json, sys
import django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from evaluation.reports.reports import project_report
from foilworks.demo.build import build
from foilworks.demo.plan import Sizes
from foilworks.demo.run import numbers
from jobs.runner import run_now
silent = lambda things, total, label: iter(things)
made = build(1, Sizes(training=14, pairs=14, counting=12, free=2), silent, lambda job, seconds: run_now(job))
found = numbers(*made)
manifest = json.loads(open(found.pop("export") + "/manifest.json").read())
said = {"numbers": found, "content_hash": manifest["content_hash"], "validation": project_report(made[0], "validation")}
open(sys.argv[1], "w").write(json.dumps(said, indent=1, sort_keys=True) + "\\n")
"""


def make(tag: str) -> None:
    """Write both files of the tag. CalledProcessError where its code cannot be had or run."""
    with tempfile.TemporaryDirectory() as folder:
        checkout, home = Path(folder, "checkout"), Path(folder, "home")
        subprocess.run(["git", "worktree", "add", "--detach", str(checkout), tag], cwd=ROOT, check=True)
        try:
            environment = {"FOILWORKS_HOME": str(home), "DJANGO_SETTINGS_MODULE": "foilworks.settings"}
            subprocess.run(
                [sys.executable, "-c", BUILD, str(KEPT / f"{tag}.json")],
                cwd=checkout,
                env={**os.environ, **environment, "PYTHONPATH": str(checkout)},
                check=True,
            )
            (database,) = home.glob("*.sqlite3")
            with sqlite3.connect(database) as connection, gzip.open(KEPT / f"{tag}.sql.gz", "wt", 9) as out:
                out.writelines(f"{line}\n" for line in connection.iterdump())
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(checkout)], cwd=ROOT, check=True)


if __name__ == "__main__":
    KEPT.mkdir(exist_ok=True)
    for name in sys.argv[1:]:
        make(name)
