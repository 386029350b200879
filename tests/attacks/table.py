"""The table of docs/explanation/threat-model.md: class, guard, attack, read off the attacks themselves.

.venv/bin/python -m tests.attacks.table     writes it into the page
"""

import importlib
import inspect
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "explanation" / "threat-model.md"
BEGIN, END = "<!-- guards -->", "<!-- end of guards -->"
# Module -> the class as peers' lists of holes call it, in their order.
CLASSES = {
    "test_scripts": "Stored and reflected scripts",
    "test_filters_and_orders": "Leaks through filters and orders",
    "test_requests_of_the_server": "Server-side request forgery",
    "test_paths": "Path traversal",
    "test_keys_and_sign_up": "Default keys, open sign-up",
    "test_informed_cheater": "Answers without watching the clip",
    "test_object_access": "Object access: every id × every role",
    "test_files_of_others": "Files of other projects",
    "test_deserialisation": "Unsafe deserialisation",
    "test_job_flooding": "Job flooding",
    "test_bombs": "Decompression bombs",
    "test_error_pages": "Information leaks in error pages",
    "test_short_answers": "Answers that repeat input",
    "test_spreadsheets": "CSV formulas",
    "test_crowd_identities": "Forged crowd identities, early codes",
    "test_sessions": "Cross-site requests and framing",
}


def rows() -> list[tuple[str, str, str, str]]:
    """(class, guard, what it does, attack) of every guard, in the order of the files."""
    found = []
    for module, name in CLASSES.items():
        loaded = importlib.import_module(f"tests.attacks.{module}")
        tests = [each for each in inspect.getmembers(loaded, inspect.isfunction) if each[0].startswith("test_")]
        for test, function in sorted(tests, key=lambda each: each[1].__code__.co_firstlineno):
            marks = [mark for mark in getattr(function, "pytestmark", []) if mark.name == "guarded"]
            found += [(name, guard.place, guard.keeps, f"{module}.py::{test}") for mark in marks for guard in mark.args]
    return found


def table() -> str:
    """One row a guard; its attacks below each other."""
    attacks: dict[tuple[str, str, str], list[str]] = {}
    for name, place, keeps, attack in rows():
        attacks.setdefault((name, place, keeps), []).append(attack)
    lines = ["| class | guard | code | attacks (tests/attacks/) |", "|---|---|---|---|"]
    for (name, place, keeps), tests in attacks.items():
        shown = "<br>".join(f"`{test}`" for test in tests)
        lines.append(f"| {name} | {keeps} | `{place}` | {shown} |")
    return "\n".join(lines)


def written(page: str) -> str:
    """The page with the table as it is now."""
    head, _begin, rest = page.partition(BEGIN)
    return f"{head}{BEGIN}\n\n{table()}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    import tests.conftest  # noqa: F401 (it sets Django up, in a home of its own)

    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
