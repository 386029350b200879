"""What `make lint` asks of code and packages: patterns of unsafe code (bandit), published holes (pip-audit).

    .venv/bin/python scripts/audit.py              both
    .venv/bin/python scripts/audit.py --code       code alone, as make test asks it
    .venv/bin/python scripts/audit.py --packages   packages alone
    .venv/bin/python scripts/audit.py --strict     and packages that nobody could look up are an error, too

What is found and stands as it is has its reason in pyproject.toml: [tool.foilworks-audit.code] by file and rule,
[tool.foilworks-audit.packages] by the hole's id. A reason for what is no longer found is an error: it would hide the
next one. Where the advisories cannot be reached (no network, an index that has none), that is said and is no error:
tests run offline. Looking packages up takes half a minute, so it is done once a day.
"""

import hashlib
import importlib.metadata
import json
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("annotation", "corpus", "evaluation", "foilworks", "generation", "hub", "jobs", "media", "projects", "text")
STAMP = ROOT / ".venv" / ".stamps" / "audit"
MAX_SECONDS = 180
Reasons = Mapping[str, str]


def reasons() -> tuple[Reasons, Reasons]:
    """(of code, of packages) out of pyproject.toml."""
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["foilworks-audit"]
    return tool.get("code", {}), tool.get("packages", {})


def judged(found: Mapping[str, str], reasons: Reasons) -> list[str]:
    """Lines about what has no reason, and about reasons of nothing. `found`: key -> what to say."""
    new = [said for key, said in sorted(found.items()) if key not in reasons]
    empty = [f"{key}: the reason in pyproject.toml is empty" for key, why in reasons.items() if not why.strip()]
    stale = sorted(reasons.keys() - found.keys())
    over = [f"{key}: has a reason in pyproject.toml and is no longer found; remove it" for key in stale]
    return [*new, *empty, *over]


def code_findings(report: Mapping[str, Any]) -> dict[str, str]:
    """file and rule -> a line, out of bandit's report."""
    found = {}
    for each in report["results"]:
        name = Path(each["filename"]).as_posix().removeprefix("./")
        said = f"{name}:{each['line_number']}: {each['test_id']}: {each['issue_text']}"
        found[f"{name} {each['test_id']}"] = said
    return found


def package_findings(report: Mapping[str, Any]) -> tuple[dict[str, str], int, int]:
    """(id -> a line, packages looked up, packages that nobody could look up), out of pip-audit's report."""
    found, looked_up, unknown = {}, 0, 0
    for each in report["dependencies"]:
        if "skip_reason" in each:
            unknown += 1
            continue
        looked_up += 1
        for hole in each["vulns"]:
            mended = ", ".join(hole["fix_versions"]) or "no version yet"
            found[hole["id"]] = f"{each['name']} {each['version']}: {hole['id']}: mended in {mended}"
    return found, looked_up, unknown


def audit_code(known: Reasons) -> list[str]:
    command = [sys.executable, "-m", "bandit", "-q", "-r", *PACKAGES, "-c", "pyproject.toml", "-f", "json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if not done.stdout.startswith("{"):
        return [f"bandit did not run: {done.stderr.strip()[-300:]}"]
    return judged(code_findings(json.loads(done.stdout)), known)


def audit_packages(known: Reasons, *, strict: bool) -> list[str]:
    """Nothing is looked up where it was today, with the same packages installed."""
    today = _fingerprint()
    if not strict and STAMP.is_file() and STAMP.read_text(encoding="utf-8") == today:
        return []
    report = _asked()
    found, looked_up, unknown = package_findings(report) if report else ({}, 0, 0)
    if not looked_up:
        said = "packages were not audited: the advisories cannot be reached from here (`pip-audit` says more)"
        _note(today)
        if strict:
            return [said]
        sys.stderr.write(f"{said}\n")
        return []
    if unknown:
        sys.stderr.write(f"{unknown} of {looked_up + unknown} packages are unknown to the advisories\n")
    problems = judged(found, known)
    if not problems:
        _note(today)
    return problems


def _asked() -> dict[str, Any] | None:
    """pip-audit's report of this environment; None where it cannot be had."""
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off", "--skip-editable"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=MAX_SECONDS)
    except subprocess.TimeoutExpired:
        return None
    start = done.stdout.find("{")
    return json.loads(done.stdout[start:]) if start >= 0 else None


def _fingerprint() -> str:
    """The day, and what is installed."""
    names = sorted(f"{each.name}=={each.version}" for each in importlib.metadata.distributions())
    digest = hashlib.sha256("\n".join([*names, repr(reasons())]).encode()).hexdigest()
    return f"{datetime.now(UTC):%Y-%m-%d} {digest}"


def _note(fingerprint: str) -> None:
    if STAMP.parent.is_dir():
        STAMP.write_text(fingerprint, encoding="utf-8")


def main() -> int:
    of_code, of_packages = reasons()
    problems: list[str] = []
    # One waits for the network while the other computes.
    with ThreadPoolExecutor() as pool:
        code = pool.submit(audit_code, of_code) if "--packages" not in sys.argv else None
        if "--code" not in sys.argv:
            problems += audit_packages(of_packages, strict="--strict" in sys.argv)
        problems += code.result() if code else []
    for line in problems:
        sys.stderr.write(f"{line}\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
