"""Share what every `foilworks` command has: `--json`, one clear line for bad input, exit status 0, 1 or 2.

Format plain tables for a terminal, for commands without `--json`. The commands on files import it without tables:
`projects.py` beside it has what needs them.
"""

import json
import sys
from abc import abstractmethod
from argparse import SUPPRESS, RawDescriptionHelpFormatter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandParser, DjangoHelpFormatter

from foilworks.core.text.errors import ActionableError
from foilworks.core.text.plugins import NamedFailures
from foilworks.core.text.quoting import quoted
from foilworks.core.text.registry import RegistryError

if TYPE_CHECKING:
    from foilworks.core.jobs.models import Job

BAR_WIDTH = 30
# The exit status of a command whose job is only partly done.
PARTLY_DONE = 3


class _HelpFormatter(DjangoHelpFormatter, RawDescriptionHelpFormatter):
    """Django's order of options, with the line breaks of examples and lists, and names that can be copied."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        lines = text.split("\n")
        indent = "  " if len(lines) > 1 else ""
        wrapped = (
            wrap(line, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)
            for line in lines
        )
        return [part for parts in wrapped for part in parts]


def listed(entries: Mapping[str, Any]) -> str:
    """Return the help of an argument that names one of the entries of a registry: one per line, the name first."""
    return "\n".join(f"{slug}: {entry.summary.rstrip('.')}" for slug, entry in entries.items()).replace("%", "%%")


class FoilworksCommand(BaseCommand):
    """The base of our commands.

    Subclasses give `help`, `example`, `run(**options) -> dict` and, for people, `render(result) -> str`. Exit status: 0
    done, 1 bad input or failed (an ActionableError, printed as one line on stderr), 2 wrong usage, 3 partly done. With
    `--json`, stdout contains
    exactly one JSON object; everything else goes to stderr.
    """

    example = ""
    requires_system_checks: list[str] = []
    # Django's options work, and the help of a command is about the command.
    suppressed_base_arguments = {
        "--verbosity",
        "--settings",
        "--pythonpath",
        "--traceback",
        "--no-color",
        "--force-color",
        "--version",
    }

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **self.parser_settings(), **kwargs)
        parser.add_argument("--json", action="store_true", dest="as_json", help="print one JSON object to stdout")
        # The command line reads it before the settings (`foilworks.site.cli`).
        parser.add_argument("--environment", metavar="FILE", help="read settings from this file of KEY=VALUE lines")
        return parser

    def parser_settings(self) -> dict[str, Any]:
        """Return what argparse prints below the options, and how it breaks lines."""
        epilog = f"example:\n  {self.example}" if self.example else None
        return {"epilog": epilog, "formatter_class": _HelpFormatter}

    def handle(self, *args: Any, **options: Any) -> None:
        as_json = options.pop("as_json")
        options.pop("environment", None)
        try:
            with nullcontext() if options.get("traceback") else NamedFailures():
                result = self.run(**options)
        except ActionableError as error:
            self.stderr.write(f"foilworks: {one_line(str(error))}")
            sys.exit(1)
        except BrokenPipeError:
            sys.exit(1)
        self.stdout.write(json.dumps(result, ensure_ascii=False, allow_nan=False) if as_json else self.render(result))
        if status := self.exit_status(result):
            sys.exit(status)

    @abstractmethod
    def run(self, **options: Any) -> dict[str, Any]:
        """Do the work and return its result, which is printed as JSON or passed to `render`."""

    def render(self, result: dict[str, Any]) -> str:
        return json.dumps(result, ensure_ascii=False, indent=2)

    def say_if_no_worker(self, job: "Job | None" = None) -> None:
        """Print a hint if a job was queued and no worker listens, or if Ray runs it."""
        # Imported on request: commands on files run without tables.
        from foilworks.core.jobs.queue import no_worker_hint

        if hint := no_worker_hint(job):
            self.say(hint)

    def exit_status(self, result: dict[str, Any]) -> int:
        """Return 0, unless too much of the result is missing, or for a reason of the command's own (a failed
        verification)."""
        if "state" not in result:
            return 0
        from foilworks.core.jobs.models import JobState

        return PARTLY_DONE if result["state"] == JobState.PARTLY else 0

    def say(self, message: str) -> None:
        """Print a line for people on stderr, so that stdout stays one JSON object."""
        self.stderr.write(message, style_func=str)

    def progress(self, things: Iterable[Any], total: int, label: str) -> Iterator[Any]:
        """Yield `things`, drawing a bar on a terminal's stderr; silent elsewhere."""
        shown = sys.stderr.isatty() and total > 0
        for done, thing in enumerate(things, start=1):
            yield thing
            if shown:
                filled = BAR_WIDTH * done // total
                bar = "#" * filled + "." * (BAR_WIDTH - filled)
                sys.stderr.write(f"\r{label} [{bar}] {done}/{total}" + ("\n" if done >= total else ""))
                sys.stderr.flush()


class CommandGroup(FoilworksCommand):
    """A command of several subcommands; each is a FoilworksCommand with options of its own."""

    subcommands: Mapping[str, type[FoilworksCommand]] = {}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.commands = {name: command(*args, **options) for name, command in self.subcommands.items()}
        self.example = "\n  ".join(command.example for command in self.commands.values() if command.example)

    def add_arguments(self, parser: CommandParser) -> None:
        choices = parser.add_subparsers(dest="subcommand", required=True, metavar="SUBCOMMAND", title="subcommands")
        for name, command in self.commands.items():
            settings = {"help": command.help.replace("%", "%%"), "description": command.help}
            subparser = choices.add_parser(name, **settings, **command.parser_settings())
            command.add_arguments(subparser)
            # SUPPRESS: an option that is missing here does not replace the value before the subcommand.
            subparser.add_argument(
                "--json", action="store_true", dest="as_json", default=SUPPRESS, help="print one JSON object to stdout"
            )
            for flag in ("--traceback", "--no-color", "--force-color"):
                subparser.add_argument(flag, action="store_true", default=SUPPRESS, help=SUPPRESS)
            subparser.add_argument("-v", "--verbosity", type=int, default=SUPPRESS, help=SUPPRESS)
            for flag in ("--settings", "--pythonpath", "--environment"):
                subparser.add_argument(flag, default=SUPPRESS, help=SUPPRESS)

    def run(self, **options: Any) -> dict[str, Any]:
        self.command = self.commands[options.pop("subcommand")]
        self.command.stdout, self.command.stderr = self.stdout, self.stderr
        return self.command.run(**options)

    def render(self, result: dict[str, Any]) -> str:
        return self.command.render(result)

    def exit_status(self, result: dict[str, Any]) -> int:
        return self.command.exit_status(result)


def one_line(message: str) -> str:
    """Remove line breaks and control characters, so that hostile input cannot forge a second message."""
    return " ".join("".join(ch if ch.isprintable() else " " for ch in message).split())


def parse_set_options(given: Iterable[str] | None) -> dict[str, str]:
    """Return {"name": "value"}. The value may contain `=`. Raises RegistryError without a name or `=`."""
    found: dict[str, str] = {}
    for piece in given or ():
        name, equals, value = piece.partition("=")
        if not equals or not name.strip():
            raise RegistryError(f"--set {quoted(piece)} is not valid; write it as --set name=value")
        found[name.strip()] = value
    return found


NOTHING = "-"


def cell(value: Any) -> str:
    """Format a number with four decimals, an interval in brackets, a missing value as a dash."""
    if value is None:
        return NOTHING
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, list | tuple) and len(value) == 2:
        return f"[{cell(value[0])}, {cell(value[1])}]"
    return str(value)


def table(headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Align columns to their widest cell; the first column to the left, the others to the right."""
    lines = [list(headers), *[[cell(value) for value in row] for row in rows]]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headers))]
    return "\n".join(
        "  ".join(
            text.rjust(width) if column else text.ljust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def table_of(records: Sequence[dict[str, Any]], keys: Sequence[str]) -> str:
    """Format the named fields of the records, one row each."""
    return table(keys, [[record.get(key) for key in keys] for record in records])


def sets_table(result: dict[str, Any]) -> str:
    """Format the groups of `metrics.sets`: each value with its interval, chance and luck."""
    head = ("", "value", "95 % interval", "chance", "luck", "if unread are right")
    rows = []
    for name, group in [*result["subtests"].items(), ("overall", result["overall"])]:
        rows.append((f"{name}: {group['n']:,} answers in {group['n_sets']:,} sets", *[None] * (len(head) - 1)))
        bounds = group.get("if_unread_right", {})
        rows += [
            (value, group[value], group[f"{value}_ci"], group["chance"][value], group["luck"][value], bounds.get(value))
            for value in group["chance"]
        ]
    return table(head, rows)
