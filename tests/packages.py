"""Packages that only one test needs: installed for it, beside those of the environment."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def installed_in(folder: Path, *names: str) -> dict[str, str]:
    """Install packages into a folder of their own; return the environment of programs that find them.

    They come after the installed ones, so what both have is that of the environment.
    """
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", folder, *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (folder / "after").mkdir()
    code = f"import sys; sys.path.append({str(folder)!r})"
    (folder / "after" / "sitecustomize.py").write_text(code, encoding="utf-8")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder / "after"), str(ROOT)])}
