"""Every command that the documentation shows is one: its own parser takes it."""

import argparse
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.core.management import get_commands, load_command_class
from django.core.management.base import CommandError

from foilworks.site.cli import RENAMED, own_commands
from foilworks.site.management import commands
from foilworks.site.management.old_spellings import MOVED
from scripts.doc_pages import ROOT, command_lines, inline_commands, name_of, pages, split, words
from tests.rows import for_each

# Of the plug-in that a reader of docs/how-to/plugins.md writes.
OWN_SLUGS = {"my-gap"}
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


@cache
def parser_of(name: str) -> argparse.ArgumentParser:
    if name in own_commands():
        command: Any = import_module(f"{commands.__name__}.{name}").Command()
    else:
        command = load_command_class(get_commands()[name], name)
    return command.create_parser("foilworks", name)


def problem_of(command: str) -> str:
    """What the parser says against a whole command; empty where it takes it."""
    name, *arguments = words(command)
    if name.startswith("-"):
        return ""
    if name not in get_commands():
        return f"there is no command {name}"
    parser = parser_of(name)
    # Django's parser raises where a command was called from code, instead of leaving with status 2.
    try:
        parser.parse_args(arguments)
    except SystemExit as left:
        return "" if left.code == 0 else f"{name} does not take {arguments}"
    except CommandError as error:
        return str(error)
    return ""


def options_of(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                yield from options_of(sub)


def mention_problem(mention: str, old_options: frozenset[str] = frozenset()) -> str:
    """A mention may leave out what is needed; what it names must be there."""
    name, *rest = words(mention)
    if name not in get_commands():
        return f"there is no command {name}"
    known = set(options_of(parser_of(name))) | old_options
    wrong = [word for word in re.findall(r"(?<![\w-])--[\w-]+", " ".join(rest)) if word not in known]
    return f"{name} has no {', '.join(wrong)}" if wrong else ""


@for_each("path", pages())
def test_every_quoted_command_exists(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = path.read_text(encoding="utf-8")
    problems = []
    for block in split(text)[1]:
        lines = [line for line in command_lines(block) if not set(words(line)) & OWN_SLUGS]
        problems += [f"{line}: {said}" for line in lines if (said := problem_of(line))]
    # The changelog calls commands and options by the names that they had.
    is_changelog = path.name == "CHANGELOG.md"
    old = {*RENAMED, "tally"} if is_changelog else set()
    old_options = frozenset(option for options in MOVED.values() for option in options) if is_changelog else frozenset()
    mentions = [said for said in inline_commands(text) if words(said)[0] not in old]
    problems += [f"{said}: {why}" for said in mentions if (why := mention_problem(said, old_options))]
    assert not problems, f"{name_of(path)}: " + "; ".join(problems)


@for_each("path", pages())
def test_every_quoted_make_target_exists(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    code = "\n".join(block.text for block in split(text)[1])
    named = set(re.findall(r"^(?:\$ )?make ([a-z]+)\b", code, re.MULTILINE))
    named |= set(re.findall(r"`make ([a-z]+)`", text))
    assert named <= set(re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE)), name_of(path)


def test_a_wrong_command_is_found() -> None:
    assert "there is no command imprt" in problem_of("imprt jsonl x.jsonl --project p")
    assert problem_of("import jsonl x.jsonl")
    assert problem_of("import jsonl x.jsonl --project p --nonsense")
    assert not problem_of("import jsonl x.jsonl --project p  # a comment")
    assert mention_problem("import --nonsense") == "import has no --nonsense"
    assert not mention_problem("import … --media DIR")


@for_each("path", pages())
def test_every_file_in_a_command_exists(path: Path) -> None:
    if path.name in {"extend.md", "plugins.md"}:
        return  # They show files that their readers write; other tests run them.
    text = path.read_text(encoding="utf-8")
    code = "\n".join(block.text for block in split(text)[1]) + "\n".join(re.findall(r"`([^`\n]+)`", text))
    found = re.findall(r"(?<![\w/.-])((?:docs|scripts|benchmarks|tests|deploy)/[\w./-]+\.(?:py|md|sql|yaml))\b", code)
    assert not [file for file in found if not (ROOT / file).exists()], name_of(path)
