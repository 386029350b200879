"""Run the `foilworks` console script: Django's commands under one name, with a help page of our own.

`manage.py` calls the same function. Django's commands (`shell`, `changepassword` …) work as well.
"""

import ast
import difflib
import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import django
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command, execute_from_command_line, get_commands
from django.db import DatabaseError, OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from foilworks.site import light
from foilworks.site.databases import first_tables
from foilworks.site.management import commands
from foilworks.site.management.old_spellings import moved_hint
from foilworks.site.server.gc_freeze import lasting
from foilworks.version import __version__

NAME = "foilworks"
MIGRATE = f"run `{NAME} migrate`, or see what is wrong with `{NAME} doctor`"
CONNECT = f"start the database, or correct DATABASE_URL; `{NAME} doctor` shows what is wrong"
ASKS_FOR_HELP = {"-h", "--help", "help"}
ASKS_FOR_VERSION = {"-V", "--version", "version"}
BAD_INPUT, WRONG_USAGE = 1, 2
# Old name -> name today. Names of 0.3.0 work until 0.5.
RENAMED: dict[str, str] = {"balance": "prune"}
# The commands in the order in which a project needs them.
STAGES = {
    "start": ("up", "demo", "doctor", "createsuperuser"),
    "audit and repair a benchmark": ("audit", "contamination", "prune"),
    "import clips and texts": ("import", "undo-import", "attach", "sources", "characters", "objects"),
    "make items": ("caption", "foil", "generate", "compose", "pair", "subtest"),
    "judge and release": ("plan", "report", "release", "export", "verify", "publish", "trust"),
    "score models": ("evaluate", "metrics", "ladder", "proximity", "teacher", "tune", "utd"),
    "extend": ("plugin",),
    "papers": ("reproduce", "feint6k-tables"),
}
OTHER_COMMANDS = "operate a site"
# They look at an empty database, or fill it themselves.
PREPARE_THEMSELVES = {"demo", "doctor", "migrate", "restore", "up"}
# What a shell reports for a program that Ctrl-C ended.
INTERRUPTED = 130


def main() -> None:
    """Run the command line and return its exit status (docs/reference/cli.md)."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "foilworks.site.settings")
    arguments = _take_environment(sys.argv[1:])
    if not light.has_web() and not ASKS_FOR_VERSION.intersection(arguments[:1]):
        sys.exit(light.run(arguments))
    try:
        # First: Django lists no commands of apps before they are loaded.
        if not ASKS_FOR_VERSION.intersection(arguments[:1]):
            with lasting():
                django.setup()
        sys.exit(run(arguments))
    except ImproperlyConfigured as error:
        sys.stderr.write(f"{NAME}: the settings are wrong: {error}\n")
        sys.exit(BAD_INPUT)
    except DatabaseError as error:
        problem = " ".join(str(error).split()).removesuffix("?")
        # Migrations help if a table is missing, but not if the server refuses us.
        advice = CONNECT if isinstance(error, OperationalError) and "connection" in problem else MIGRATE
        sys.stderr.write(f"{NAME}: the database: {problem}; {advice}\n")
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt as error:
        if str(error):
            sys.stderr.write(f"{NAME}: {error}\n")
        sys.stdout.flush()
        sys.stderr.flush()
        # At once: threads may wait for the answers of an endpoint, or would send more requests.
        os._exit(INTERRUPTED)


def _take_environment(arguments: list[str]) -> list[str]:
    """Set FOILWORKS_ENVIRONMENT from `--environment FILE`, for the settings and our children. Return the others."""
    if not any(argument.partition("=")[0] == "--environment" for argument in arguments):
        return arguments
    parser = ArgumentParser(NAME, add_help=False, allow_abbrev=False)
    parser.add_argument("--environment", type=os.path.abspath)
    options, others = parser.parse_known_args(arguments)
    os.environ["FOILWORKS_ENVIRONMENT"] = options.environment
    return others


def run(arguments: list[str]) -> int:
    """Return the exit status of one command line. Commands may also exit with SystemExit."""
    command = arguments[0] if arguments else "--help"
    if command in ASKS_FOR_VERSION:
        sys.stdout.write(f"{NAME} {__version__}\n")
        return 0
    if command in ASKS_FOR_HELP:
        return _help(arguments[1:])
    command = _current_name(command)
    if command not in get_commands():
        sys.stderr.write(f"{NAME}: unknown command '{command}'{_suggestion(command)}\n")
        return WRONG_USAGE
    if hint := moved_hint(command, arguments[1:]):
        sys.stderr.write(f"{NAME}: {hint}\n")
        return WRONG_USAGE
    if command not in PREPARE_THEMSELVES:
        connection_created.connect(_prepare_empty_database)
    try:
        execute_from_command_line([NAME, command, *arguments[1:]])
    finally:
        connection_created.disconnect(_prepare_empty_database)
    return 0


def _prepare_empty_database(connection: BaseDatabaseWrapper, **_signal: Any) -> None:
    """Create the tables of a new home when its first command opens the database."""
    connection_created.disconnect(_prepare_empty_database)
    if connection.vendor == "sqlite" and first_tables.has_none(connection):
        sys.stderr.write(f"{NAME}: preparing {settings.FOILWORKS_HOME} (once)\n")
        call_command("migrate", verbosity=0, interactive=False)


def _current_name(command: str) -> str:
    if command in RENAMED:
        sys.stderr.write(f"{NAME}: `{command}` is now `{RENAMED[command]}`; the old name works until 0.5\n")
    return RENAMED.get(command, command)


def own_commands() -> list[str]:
    """Return the names of our own commands, without importing them."""
    return sorted(module.name for module in iter_modules(commands.__path__) if module.name[0] != "_")


def _help(topic: list[str]) -> int:
    command = _current_name(topic[0]) if topic else ""
    if command in get_commands():
        execute_from_command_line([NAME, command, "--help"])
        return 0
    names = own_commands()
    staged = [name for commands_of_stage in STAGES.values() for name in commands_of_stage]
    groups = {**STAGES, OTHER_COMMANDS: [name for name in names if name not in staged]}
    width = max(map(len, names))
    lines = []
    for stage, of_stage in groups.items():
        lines += [f"\n{stage}:", *(f"  {name:<{width}}  {about(name)}" for name in of_stage if name in names)]
    sys.stdout.write(
        "Foilworks: create, edit, validate and score foils for videos.\n\n"
        f"usage: {NAME} COMMAND [options]\n" + "\n".join(lines) + "\n\n"
        f"`{NAME} COMMAND --help` shows the options of a command, and an example. Django's commands work as well.\n"
    )
    return 0


def about(name: str) -> str:
    """Return the help of a command as one line of the list, read from its file.

    To import all commands would take longer than anything else that the list does.
    """
    source = Path(commands.__path__[0], f"{name}.py").read_text(encoding="utf-8")
    text = next(_help_texts(ast.parse(source))).split("\n")[0].strip().rstrip(".")
    return text[:1].lower() + text[1:]


def _help_texts(module: ast.Module) -> Iterator[str]:
    """Yield the value of `help` of the class Command."""
    for node in module.body:
        if isinstance(node, ast.ClassDef) and node.name == "Command":
            for line in node.body:
                if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "help":
                    yield ast.literal_eval(line.value)


def _suggestion(command: str) -> str:
    near = difflib.get_close_matches(command, [*own_commands(), "changepassword", "shell"], n=3)
    return f"; did you mean {' or '.join(near)}?" if near else f"; `{NAME} --help` lists the commands"
