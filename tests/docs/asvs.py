"""Write the table of docs/explanation/asvs.md: OWASP ASVS 5.0.0, levels 1 and 2, from docs/explanation/asvs.toml.

    .venv/bin/python -m tests.docs.asvs update     writes it into the page

tests/docs/test_asvs.py checks that it has all numbers, and that each row that applies names its file and its test.
"""

import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "explanation" / "asvs.md"
SOURCE = PAGE.with_suffix(".toml")
NUMBERS = ROOT / "tests" / "docs" / "asvs_numbers.txt"
BEGIN, END = "<!-- requirements -->", "<!-- end of requirements -->"
CHAPTERS = {
    1: "Encoding and sanitization",
    2: "Validation and business logic",
    3: "Web frontend security",
    4: "API and web service",
    5: "File handling",
    6: "Authentication",
    7: "Session management",
    8: "Authorization",
    9: "Self-contained tokens",
    10: "OAuth and OIDC",
    11: "Cryptography",
    12: "Secure communication",
    13: "Configuration",
    14: "Data protection",
    15: "Secure coding and architecture",
    16: "Security logging and error handling",
    17: "WebRTC",
}


def levels() -> dict[str, int]:
    """Return number -> level, in the order of the standard."""
    lines = (line.split() for line in NUMBERS.read_text(encoding="utf-8").splitlines() if line[:1].isdigit())
    return {number: int(level) for number, level in lines}


def statuses() -> dict[str, dict[str, Any]]:
    """Return `applies`: number -> [control, file, test]; `does_not_apply` and `not_met`: number -> reason."""
    return tomllib.loads(SOURCE.read_text(encoding="utf-8"))


def table() -> str:
    """Return a count, then one table per chapter."""
    found, numbers = statuses(), levels()
    met, outside, unmet = (len(found[name]) for name in ("applies", "does_not_apply", "not_met"))
    lines = [f"Of {len(numbers)} requirements, {met} apply and are met, {unmet} are not met, {outside} do not apply."]
    for chapter, title in CHAPTERS.items():
        lines += [
            "",
            f"### V{chapter} {title}",
            "",
            "| number | level | control | where | proved by |",
            "|---|---|---|---|---|",
        ]
        own = (number for number in numbers if number.partition(".")[0] == str(chapter))
        lines += [_row(number, numbers[number], found) for number in own]
    return "\n".join(lines)


def _row(number: str, level: int, found: dict[str, dict[str, Any]]) -> str:
    if number in found["applies"]:
        control, file, test = found["applies"][number]
        return f"| {number} | {level} | {control} | `{file}` | `{test}` |"
    if number in found["not_met"]:
        return f"| {number} | {level} | **Not met**: {found['not_met'][number]} | | |"
    return f"| {number} | {level} | *Does not apply*: {found['does_not_apply'][number]} | | |"


def written(page: str) -> str:
    """Return the page with the current table."""
    head, _begin, rest = page.partition(BEGIN)
    return f"{head}{BEGIN}\n\n{table()}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    if sys.argv[1:] != ["update"]:
        sys.exit(__doc__)
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
