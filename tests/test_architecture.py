"""The shape of the house, held by tests: directions, tables, sizes and habits of docs/where-to-change.md."""

import ast
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Set
from configparser import ConfigParser
from functools import cache
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import ModuleType

import pytest
from django.urls import get_resolver

from foilworks.core.jobs.names import find_job
from foilworks.core.rooms import declared
from foilworks.core.text.registry import Entry, load
from foilworks.site.cli import own_commands
from scripts.house import GENERATED

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("annotation", "evaluation", "foilworks", "generation")
# From the bottom up: what an app queues is its own or declared by one before it here.
FLOORS = (
    "foilworks.core.jobs",
    "foilworks.core.projects",
    "foilworks.core.corpus",
    "generation",
    "annotation",
    "evaluation",
    "foilworks.site",
)
# In the `declarations.py` of the rooms.
TABLES_OF_NAMES = ("SENTENCES", "WORK_SENTENCES", "EVENTS", "NOTIFICATIONS", "RUNS", "ROW_KINDS")
MAX_FILE_LINES, MAX_FUNCTION_LINES, MAX_TEMPLATE_LINE = 450, 50, 160
# Of a function in a folder `actions`; what belongs together is a record, such as `RunRequest`.
MAX_ACTION_PARAMETERS = 8
SETTINGS = "foilworks/site/settings.py"
# They may say which settings module Django reads, and nothing else.
# A task of Ray sets the name of the settings before it reads them, as the programs do.
ENTRY_POINTS = {
    "foilworks/site/cli.py",
    "foilworks/site/wsgi.py",
    "foilworks/site/asgi.py",
    "foilworks/core/jobs/ray/decoding.py",
}
# They hand a few named variables (PATH, CUDA's) to programs of others and to decoders, which see none of our secrets.
# An actor of Ray sets what was reserved for it, before its settings are read.
HANDS_ON = (
    dict.fromkeys(
        ("foilworks/core/hub/adapters/_subprocess_lines.py", "foilworks/core/media/child.py"),
        "os.environ[key] for key in INHERITED if key in os.environ",
    )
    | dict.fromkeys(("foilworks/site/backup/database.py", "foilworks/site/backup/rehearsal.py"), "{**os.environ, **")
    | {"foilworks/core/jobs/ray/actor.py": "os.environ.update(variables)"}
    # The option --environment is a variable of the settings, written in another way.
    | {"foilworks/site/cli.py": 'os.environ["FOILWORKS_ENVIRONMENT"] = options.environment'}
)
# Tables whose modules are in another package than their registry: a page may read the table, not import the modules.
REGISTRIES = {"foilworks.core.hub.adapters": "foilworks.core.hub.catalogue.registry"}
# package -> the name of its table, and the modules in it that are neither rows nor helpers.
TABLES = {
    "generation.methods": ("METHODS", set()),
    "generation.captioning": ("CAPTIONERS", {"records", "trial"}),
    "generation.filters": ("FILTERS", set()),
    "foilworks.core.corpus.import_formats": ("IMPORTERS", {"parsing"}),
    "foilworks.core.corpus.export_formats": ("EXPORTERS", {"parts"}),
    "foilworks.core.hub.adapters": ("EVERY", set()),
    "evaluation.metrics": (
        "METRICS",
        {
            "answers",
            "choices",
            "comparison",
            "exact",
            "gap",
            "intervals",
            "ladder",
            "item_response",
            "need_evidence",
            "needs",
            "power",
            "ranking",
            "rungs",
            "stress",
            "ties",
        },
    ),
    "evaluation.analyses": (
        "REPORTS",
        {
            "agreement_data",
            "analysis_inputs",
            "crowd",
            "preference",
            "sampling",
            "text_counts",
            "questions",
            "repairs",
            "scored_items",
            "verdicts",
            "words",
        },
    ),
}
# Tables of rows without a folder of their own.
OTHER_TABLES = (
    ("foilworks.core.hub.catalogue.registry", "DEVICES"),
    ("foilworks.core.text.language.registry", "TAGGERS"),
    ("foilworks.site.reproduction.registry", "PAPERS"),
)
# Files of rows beside a registry.py.
ROW_FILES = {"generation/methods/_model_methods.py"}
# They import by a name: rows, rooms that are discovered as files, jobs by the name in their row, and the function that
# a task of the cluster is sent.
IMPORTERS_BY_NAME = {
    "foilworks/core/text/registry.py",
    "foilworks/core/rooms.py",
    "foilworks/core/jobs/names.py",
    "foilworks/core/jobs/ray/decoding.py",
}
# A child of the supervisor runs the program that it is started for.
RUNS_PROGRAMS = {"foilworks/site/supervisor/child.py"}
IMPORT_FUNCTIONS = {"import_module", "import_string", "__import__", "run_module", "run_path"}
# The modules of the hub that pages may import.
LIGHT_HUB = {"catalogue", "errors"}
# Their modules say in VERSION which of their outcomes these are; it stands in what they made.
VERSIONED = {"generation.methods", "generation.captioning", "generation.filters"}
HEAVY = (
    "torch",
    "transformers",
    "sentence_transformers",
    "spacy",
    "nltk",
    "lemminflect",
    "crowdkit",
    "pandas",
    "sklearn",
)


@cache
def source_files() -> tuple[Path, ...]:
    """Every Python file of the product; migrations are written by Django."""
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return tuple(sorted(path for path in files if "migrations" not in path.parts))


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(text_of(path), filename=str(path))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(parsed(path)))


@pytest.fixture(scope="module", autouse=True)
def forgotten_afterwards() -> Iterator[None]:
    """The trees of all files are shared by these tests and are in the way of all others."""
    yield
    for each in (source_files, text_of, parsed, nodes):
        each.cache_clear()


def found(test: str, offenders: list[str]) -> None:
    assert not offenders, f"{test}:\n  " + "\n  ".join(offenders)


def test_the_top_level_is_that_of_the_design():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    folders = {line.partition("/")[0] for line in listed.splitlines() if "/" in line}
    design = {"annotation", "evaluation", "generation", "static", "templates", "tests"}
    assert folders == design | {".ci", ".github", "benchmarks", "deploy", "docs", "foilworks", "scripts"}
    assert {"manage.py", "pyproject.toml"} <= set(listed.splitlines())


def test_every_import_points_down():
    # In a process of its own: the linter configures logging anew, which silences every logger that is there already.
    program = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([program, "--no-logo"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def registry_of(package: str) -> ModuleType:
    return import_module(REGISTRIES.get(package, f"{package}.registry"))


@pytest.mark.parametrize("package", TABLES)
def test_a_table_and_its_folder_hold_the_same_things(package):
    name, others = TABLES[package]
    table: dict[str, Entry] = getattr(registry_of(package), name)
    folder = ROOT / package.replace(".", "/")
    stems = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    modules = {f"{package}.{stem}" for stem in stems - others if stem != "registry" and stem[0] != "_"}
    rows = Counter(entry.path.partition(":")[0] for entry in table.values())
    assert set(rows) == modules
    # A module may offer several rows only as several attributes ("foilworks.core.hub.adapters.fake:FakeEmbedder"), or
    # as several recipes.
    offers = Counter(
        (entry.path, *(param.default for param in entry.params if param.name == "recipe")) for entry in table.values()
    )
    assert max(offers.values(), default=1) == 1


def rows() -> Iterator[tuple[str, str, Entry]]:
    for package, (name, _) in TABLES.items():
        for slug, entry in getattr(registry_of(package), name).items():
            yield package, slug, entry
    for module, name in OTHER_TABLES:
        for slug, entry in getattr(import_module(module), name).items():
            yield module.removesuffix(".registry"), slug, entry


@pytest.mark.parametrize(
    ("package", "slug", "entry"), list(rows()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_row_loads_and_documents_its_parameters(package, slug, entry):
    made = load(entry)
    if package in VERSIONED:
        version = getattr(made, "VERSION", None)
        assert isinstance(version, str), f'{entry.path}: says no VERSION; write VERSION = "1"'
        assert version
    assert re.fullmatch(r"[a-z0-9]+([-_][a-z0-9]+)*", slug), "a slug stands in addresses and commands"
    assert entry.label
    assert all(param.help for param in entry.params)
    assert len({param.name for param in entry.params}) == len(entry.params)


def test_every_table_of_rows_is_checked_above():
    tables = {(registry_of(package).__name__, name) for package, (name, _) in TABLES.items()} | set(OTHER_TABLES)
    registries = {module for module, _ in tables}
    files = {".".join(path.relative_to(ROOT).with_suffix("").parts) for path in source_files() if is_registry(path)}
    assert files == registries
    checked = {entry.path for _, _, entry in rows()}
    written = {
        path: f"{relative(file)}:{call.lineno}"
        for file in source_files()
        if is_registry(file) or relative(file) in ROW_FILES
        for call in calls_of(file, {"Entry"})
        if (path := path_of_row(call))
    }
    found("rows that no test loads", [f"{written[path]} {path}" for path in sorted(written.keys() - checked)])


def is_registry(path: Path) -> bool:
    """Whether a file holds a table of rows; some tables of this name hold functions."""
    return path.name == "registry.py" and defines_rows(path)


def calls_of(path: Path, functions: Set[str]) -> Iterator[ast.Call]:
    for node in nodes(path):
        if isinstance(node, ast.Call) and set(_names(node.func)) & functions:
            yield node


def path_of_row(call: ast.Call) -> str:
    """The module or attribute that an `Entry(…)` names; "" for a form, which names none."""
    named = {word.arg: word.value for word in call.keywords}
    value = named.get("path", call.args[1] if len(call.args) > 1 else None)
    if value is None:
        return ""
    return value.value if isinstance(value, ast.Constant) else ast.unparse(value)


def test_strings_name_imports_in_tables_only():
    """An import in a string is hidden from the linter, from mypy and from editors."""
    hidden = [
        f"{relative(path)}:{call.lineno} a row outside the tables: {path_of_row(call)}"
        for path in source_files()
        if not is_registry(path) and relative(path) not in ROW_FILES
        for call in calls_of(path, {"Entry"})
        if path_of_row(call) and defines_rows(path)
    ]
    hidden += [
        f"{relative(path)}:{call.lineno} {ast.unparse(call)}"
        for path in source_files()
        if relative(path) not in IMPORTERS_BY_NAME | RUNS_PROGRAMS
        for call in calls_of(path, IMPORT_FUNCTIONS)
    ]
    hidden += [
        f"{relative(path)}:{node.lineno} {node.value}"
        for path in source_files()
        if not is_registry(path) and path.name != "declarations.py" and relative(path) not in ROW_FILES
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and names_attribute(node.value)
    ]
    found("imports in strings", hidden)


def defines_rows(path: Path) -> bool:
    """Whether `Entry` in this file is the row of a registry: other classes have this name, too."""
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "foilworks.core.text.registry"
        and any(name.name == "Entry" for name in node.names)
        for node in nodes(path)
    )


def names_attribute(text: str) -> bool:
    """Whether a string has the form of a row's path and names a module of ours: "package.module:attribute"."""
    match = re.fullmatch(r"((?:annotation|evaluation|foilworks|generation)(?:\.\w+)+):\w+", text)
    return bool(match) and (ROOT / match[1].replace(".", "/")).with_suffix(".py").is_file()


def test_pages_are_forbidden_every_heavy_module_of_the_hub():
    contracts = ConfigParser()
    contracts.read(ROOT / ".importlinter", encoding="utf-8")
    forbidden = contracts["importlinter:contract:light-pages"]["forbidden_modules"].split()
    hub = ROOT / "foilworks" / "core" / "hub"
    modules = {path.stem for path in hub.glob("*.py")} | {path.parent.name for path in hub.glob("*/__init__.py")}
    heavy = {f"foilworks.core.hub.{name}" for name in modules - LIGHT_HUB - {"__init__"}}
    assert {name for name in forbidden if name.startswith("foilworks.")} == heavy


def only_rows(tree: ast.Module) -> bool:
    """Whether a file holds imports and tables alone: such a one is looked up, not read, and grows by a row a thing."""
    return all(
        isinstance(node, ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign | ast.Expr) for node in tree.body
    )


# Exports copy it into the tasks of harnesses as one file, which imports only the standard library.
COPIED, MAX_COPIED_LINES = "foilworks/core/text/model_answers.py", 510


def too_long(name: str, text: str) -> bool:
    return (
        len(text.splitlines()) > (MAX_COPIED_LINES if name == COPIED else MAX_FILE_LINES)
        and not (name.endswith("/registry.py") and only_rows(ast.parse(text)))
        and GENERATED not in text[:500]
    )


def test_no_file_is_longer_than_a_person_reads():
    long = [relative(path) for path in source_files() if too_long(relative(path), text_of(path))]
    found(f"files over {MAX_FILE_LINES} lines (a registry.py of rows alone may be longer)", long)


def test_only_a_table_of_rows_alone_may_be_longer():
    rows = '"""Rows."""\nfrom foilworks.core.text.registry import Entry\n' + "ROW = {}\n" * MAX_FILE_LINES
    assert not too_long("generation/methods/registry.py", rows)
    assert too_long("generation/methods/number.py", rows)
    assert too_long("foilworks/core/hub/catalogue/registry.py", rows + "def looked_up(): ...\n")


def test_no_function_is_longer_than_a_screen_or_two():
    long = [
        f"{relative(path)}:{node.lineno} {node.name}: {length}"
        for path in source_files()
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := (node.end_lineno or node.lineno) - node.lineno + 1) > MAX_FUNCTION_LINES
    ]
    found(f"functions over {MAX_FUNCTION_LINES} lines", long)


def parameters_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    arguments = node.args
    names = [row.arg for row in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return len(set(names) - {"self", "cls"}) + bool(arguments.vararg) + bool(arguments.kwarg)


def test_no_action_takes_more_than_8_parameters():
    many = [
        f"{relative(path)}:{node.lineno} {node.name}: {parameters_of(node)}"
        for path in source_files()
        if "actions" in path.with_suffix("").parts
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and parameters_of(node) > MAX_ACTION_PARAMETERS
    ]
    found(f"actions with more than {MAX_ACTION_PARAMETERS} parameters", many)


def _names(node: ast.expr | None) -> Iterator[str]:
    """The last names of an exception class or a tuple of them; an absent one catches everything."""
    if node is None:
        yield "BaseException"
    elif isinstance(node, ast.Tuple):
        for element in node.elts:
            yield from _names(element)
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Name):
        yield node.id


def test_no_except_is_broad():
    broad = []
    # One place runs code of others, plug-ins, while it starts: whatever that raises, the site goes on.
    for path in sorted({*source_files()} - {ROOT / "foilworks/core/text/registry.py"}):
        for node in nodes(path):
            caught: list[ast.expr | None] = []
            if isinstance(node, ast.ExceptHandler):
                caught = [node.type]
            elif isinstance(node, ast.Call) and list(_names(node.func)) == ["suppress"]:
                caught = list(node.args)
            names = {name for expression in caught for name in _names(expression)}
            if names & {"Exception", "BaseException"}:
                broad.append(f"{relative(path)}:{node.lineno}")
    found("broad excepts", broad)


def test_a_lock_lets_others_refer_to_the_row():
    """Keys are checked at the commit: whoever stored a row that names a fully locked one would wait there, with all
    that they hold, and whoever locked it may be waiting for that."""
    full = []
    for path in source_files():
        for node in nodes(path):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                said = {word.arg for word in node.keywords}
                if node.func.attr == "select_for_update" and "no_key" not in said:
                    full.append(f"{relative(path)}:{ast.unparse(node)[:60]}")
    # Who makes an item of the subtest holds its key from the beginning (annotation/actions/workflow/groups.py).
    found(
        "full locks",
        [one for one in full if not one.startswith("annotation/actions/settings/work_settings.py:Subtest")],
    )


def test_only_the_settings_read_the_environment():
    readers = []
    for path in source_files():
        # Files of exports run elsewhere, without our settings.
        if relative(path) == SETTINGS or "/parts/harnesses/" in relative(path):
            continue
        text = text_of(path)
        if relative(path) in ENTRY_POINTS:
            text = text.replace('os.environ.setdefault("DJANGO_SETTINGS_MODULE", "foilworks.site.settings")', "")
        lines = text.replace(HANDS_ON.get(relative(path), "\0"), "").splitlines()
        pattern = re.compile(r"\b(os\.environ|getenv|environb|os\.putenv|from os import environ)\b")
        readers += [f"{relative(path)}:{number}" for number, line in enumerate(lines, 1) if pattern.search(line)]
    found("readers of the environment", readers)


def test_no_signals():
    # Fields have a method of that name.
    saved = r"\bpost_save\b|(?<!field\.)\bpre_save\b"
    pattern = re.compile(rf"django\.(dispatch|db\.models\.signals|core\.signals)|{saved}|@receiver")
    found("signals", [relative(path) for path in source_files() if pattern.search(text_of(path))])


def test_no_drawer_for_everything():
    names = {"utils.py", "util.py", "helpers.py", "misc.py", "common.py"}
    found("modules named after nothing", [relative(path) for path in source_files() if path.name in names])


def test_nothing_is_left_to_do_in_the_source():
    pattern = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    left = [
        f"{relative(path)}:{number}"
        for path in [
            *source_files(),
            *(ROOT / "templates").rglob("*.html"),
            *(ROOT / "static").rglob("*.js"),
        ]
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if pattern.search(line)
    ]
    found("left to do", left)


def test_no_template_line_is_over_160_characters():
    templates = sorted((ROOT / "templates").rglob("*.html"))
    assert templates
    long = [
        f"{relative(path)}:{number}: {len(line)}"
        for path in templates
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > MAX_TEMPLATE_LINE
    ]
    found(f"template lines over {MAX_TEMPLATE_LINE} characters", long)


# No page of the site: a file that is read without one, with its own style and the figures that we drew for it.
ALLOWED_IN_A_FILE = {"templates/foilworks/reproduction.html": {"<style", "|safe"}}


def test_templates_run_and_style_nothing_inline():
    # The content security policy refuses all of these; here they are refused before a browser sees them.
    inline = re.compile(
        r"<script(?![^>]*\bsrc=)|<style\b|\sstyle\s*=|\son[a-z]+\s*=|javascript:|\bhx-on\b|\|\s*safe\b", re.IGNORECASE
    )
    found(
        "inline code or style",
        [
            f"{relative(path)}:{text[: match.start()].count(chr(10)) + 1} {match.group(0).strip()}"
            for path in (ROOT / "templates").rglob("*.html")
            for text in [path.read_text(encoding="utf-8")]
            for match in inline.finditer(text)
            if match.group(0) not in ALLOWED_IN_A_FILE.get(relative(path), ())
        ],
    )


def floor_of(module: str) -> int:
    """The place of the module's app in FLOORS."""
    return max(place for place, app in enumerate(FLOORS) if f"{module}.".startswith(f"{app}."))


def names_of_jobs(path: Path) -> set[str]:
    """The names of jobs in a file, wherever they stand; what is put together stands for all that it may become."""
    texts = {node.value for node in nodes(path) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    patterns = [
        "".join(re.escape(part.value) if isinstance(part, ast.Constant) else r"\w+" for part in node.values)
        for node in nodes(path)
        if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant) and "." in node.values[0].value
    ]
    jobs = declared("JOBS")
    made = {name for pattern in patterns for name in jobs if re.fullmatch(pattern, name)}
    return (texts & jobs.keys()) | made


def test_a_job_is_queued_by_its_own_app_or_one_above():
    upward = []
    for path in source_files():
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        is_table = path.name in {"declarations.py", "names_of_0_3.py"}
        if not is_table and module.startswith(tuple(f"{app}." for app in FLOORS)):
            jobs = {name: declared("JOBS")[name].partition(":")[0] for name in names_of_jobs(path)}
            upward += [
                f"{module} queues {name}"
                for name, owner in jobs.items()
                if not owner.startswith("tests.") and floor_of(owner) > floor_of(module)
            ]
    found("jobs queued from below", upward)


def declared_names() -> dict[str, str]:
    """Names of actions, events, notifications, runs and rows -> the module that declares them."""
    names: dict[str, str] = {}
    for path in source_files():
        if path.name == "declarations.py":
            module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
            for table in TABLES_OF_NAMES:
                names |= dict.fromkeys(getattr(module, table, {}), module.__name__)
    return names


def pages_of_rooms() -> dict[str, str]:
    """Namespaces of URL names -> the module with their patterns."""
    resolvers = {name: resolver for name, (_, resolver) in get_resolver().namespace_dict.items()}
    # The namespace of the API is a list of patterns.
    return {name: getattr(resolver.urlconf_name, "__name__", "foilworks.site") for name, resolver in resolvers.items()}


def test_no_room_names_what_a_room_above_it_declares():
    """A name of an action, an event or a row that begins with an app, and a name of a page, belong to their rooms."""
    names, pages = declared_names(), pages_of_rooms()
    apps = {app.rpartition(".")[2]: app for app in FLOORS[:-1]}
    upward = []
    for path in source_files():
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        # Jobs have a test of their own.
        if not module.startswith(tuple(f"{app}." for app in FLOORS)) or path.name == "names_of_0_3.py":
            continue
        for node in nodes(path):
            text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
            namespace = text.partition(":")[0] if re.fullmatch(r"[a-z_]+:[a-z_]+", text) else ""
            app = text.partition(".")[0] if re.fullmatch(r"[a-z]+(\.[a-z_]+)+", text) else ""
            owner = names.get(text) or apps.get(app) if app else pages.get(namespace)
            if owner and floor_of(owner) > floor_of(module):
                upward.append(f"{relative(path)}:{node.lineno} {text}")
    found("names of rooms above", upward)


@pytest.mark.parametrize("table", TABLES_OF_NAMES)
def test_a_name_is_declared_once(table):
    # ValueError: two rooms declare it.
    assert declared(table)


def test_every_declared_job_is_queued_somewhere():
    queued = set().union(*(names_of_jobs(path) for path in source_files() if path.name != "declarations.py"))
    ours = {name for name, function in declared("JOBS").items() if not function.startswith("tests.")}
    assert ours - queued == set()


@pytest.mark.parametrize("name", declared("JOBS"))
def test_every_job_is_declared_beside_its_function_and_takes_an_id_and_its_row(name):
    module, _, function = declared("JOBS")[name].partition(":")
    assert re.fullmatch(r"[a-z0-9]+\.[a-z_]+", name)
    assert list(signature(find_job(name)).parameters)[1:] == ["job"]
    assert import_module(module).__name__ == find_job(name).__module__
    assert function == find_job(name).__name__


def test_the_map_of_the_house_names_what_is_there():
    """docs/where-to-change.md and the README lag behind nothing: every path and command in them exists."""
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/where-to-change.md")}
    missing = [
        f"{name}: {path}"
        for name, text in texts.items()
        for path in re.findall(r"`([a-z_]+/[\w./-]*[\w/])`", text) + re.findall(r"\]\(([\w./-]+)\)", text)
        if not (ROOT / path).exists() and not (ROOT / name).parent.joinpath(path).exists()
    ]
    found("paths that are not there", [entry for entry in missing if "var/" not in entry])
    named = set(re.findall(r"^\.venv/bin/foilworks (\w+)", texts["README.md"], re.MULTILINE))
    assert named
    assert named <= set(own_commands())


def test_every_room_is_on_the_map():
    page = (ROOT / "docs" / "where-to-change.md").read_text(encoding="utf-8")
    rooms = page[page.index("## Folders") :]
    everywhere = {"actions", "migrations", "templatetags"}
    parents = [ROOT / name for name in PACKAGES[:2] + PACKAGES[3:]]
    parents += [ROOT / "foilworks" / "site", *sorted((ROOT / "foilworks" / "core").glob("*/"))]
    found(
        "rooms that docs/where-to-change.md does not name",
        [
            f"{relative(folder)}/"
            for parent in parents
            for folder in sorted(parent.iterdir())
            if (folder / "__init__.py").exists() and folder.name not in everywhere
            if f"`{relative(folder)}/`" not in rooms
        ],
    )


BOOT = """
import gc, json, sys
import foilworks.site.wsgi
frozen = gc.get_freeze_count()
from django.urls import get_resolver

def views(patterns):
    for pattern in patterns:
        if hasattr(pattern, "url_patterns"):
            yield from views(pattern.url_patterns)
        else:
            yield pattern.callback

seen = list(views(get_resolver().url_patterns))
modules = sorted({name.partition(".")[0] for name in sys.modules})
print(json.dumps({"views": len(seen), "modules": modules, "frozen": frozen}))
"""


def test_a_web_process_loads_no_model_library():
    """The linter counts written imports; this counts what really is in memory after every URL has its view."""
    done = subprocess.run([sys.executable, "-c", BOOT], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["views"] > 10
    # Forked processes share what was there when the pages were loaded.
    assert answer["frozen"] > 100 * answer["views"]
    assert not set(HEAVY) & set(answer["modules"])
