"""The command line: a help page of its own, near matches, exit statuses, one line for what a person can mend."""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from foilworks.site.cli import PREPARE_THEMSELVES, about, own_commands, run
from foilworks.site.management.base import FoilworksCommand
from foilworks.site.management.old_spellings import MOVED

ROOT = Path(__file__).resolve().parent.parent.parent
PROMISED = {"demo", "up", "doctor", "import", "generate", "foil", "report", "release", "evaluate", "metrics", "export"}


def foilworks(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    program = Path(sys.executable).with_name("foilworks")
    return subprocess.run(
        [program, *arguments],
        env={**os.environ, **environment},
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_promised_command_is_there():
    assert set(own_commands()) >= PROMISED


@pytest.mark.parametrize("name", own_commands())
def test_every_command_shows_its_help_with_an_example(name, capsys):
    command = import_module(f"foilworks.site.management.commands.{name}").Command
    assert issubclass(command, FoilworksCommand)
    assert command.help
    with pytest.raises(SystemExit) as leaving:
        run([name, "--help"])
    assert leaving.value.code == 0
    shown = capsys.readouterr().out
    assert "--json" in shown
    # The list of commands reads the same words from the file.
    assert about(name).lower() == command.help.split("\n")[0].strip().rstrip(".").lower()
    assert f"example:\n  foilworks {name}" in shown


def test_the_help_page_lists_our_commands_and_only_ours(capsys):
    for arguments in ([], ["--help"], ["-h"], ["help"]):
        assert run(arguments) == 0
        shown = capsys.readouterr().out
        listed = [line.split()[0] for line in shown.splitlines() if line.startswith("  ")]
        assert sorted(listed) == own_commands()


def test_help_about_a_command(capsys):
    with pytest.raises(SystemExit) as leaving:
        run(["help", "up"])
    assert leaving.value.code == 0
    assert "foilworks up --port 8000" in capsys.readouterr().out


def test_an_unknown_command_names_the_nearest(capsys):
    assert run(["dmeo"]) == 2
    assert capsys.readouterr().err == "foilworks: unknown command 'dmeo'; did you mean demo?\n"
    assert run(["zzzz"]) == 2
    assert "`foilworks --help` lists the commands" in capsys.readouterr().err


def test_the_version(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == "foilworks 0.3.0\n"


# `--json`, and Django's own.
SHARED_OPTIONS = {action.dest for action in FoilworksCommand().create_parser("foilworks", "x")._actions}


def leaf_parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    yield from (subparser for group in groups for subparser in group.choices.values())
    if not groups:
        yield parser


@pytest.mark.parametrize("name", own_commands())
def test_no_command_has_more_than_12_options(name):
    """Of options that exclude each other, a person chooses one: they count once."""
    command = import_module(f"foilworks.site.management.commands.{name}").Command()
    for parser in leaf_parsers(command.create_parser("foilworks", name)):
        options = {action.dest for action in parser._actions if action.option_strings} - SHARED_OPTIONS
        choices = [{action.dest for action in group._group_actions} for group in parser._mutually_exclusive_groups]
        count = len(options) - sum(len(choice) - 1 for choice in choices)
        assert count <= 12, f"{parser.prog} has {count} options; give it subcommands"


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (
            ["evaluate", "--release", "3", "--model", "fake:"],
            "write `foilworks evaluate model SPEC`, `evaluate endpoint",
        ),
        (["utd", "--project", "mine", "describe"], "write `foilworks utd describe`, `import`, `bias` …"),
        (["utd", "bias", "--run=3"], "`--run` of `foilworks utd bias` is now `foilworks utd results --run ID`"),
        (["teacher", "train", "--estimate"], "`--estimate` of `foilworks teacher train` is now `foilworks teacher est"),
        (["report", "agreement", "--coding", "shown"], "`--coding` of `foilworks report` is now `--set coding=…`"),
        (["plan", "--vote-agreement", "0.9"], "`--vote-agreement` of `foilworks plan` is now `--set vote_agreement=…`"),
        (["import", "table", "x.csv", "--value", "a=b"], "`--value` of `foilworks import` is now `--set FIELD=TEXT`"),
    ],
)
def test_an_old_option_names_its_new_spelling(arguments, hint, capsys):
    assert run(arguments) == 2
    line = capsys.readouterr().err
    assert hint in line
    assert line.count("\n") == 1


@pytest.mark.parametrize("name", sorted(MOVED))
def test_options_that_moved_are_gone(name):
    command, _space, subcommand = name.partition(" ")
    module = import_module(f"foilworks.site.management.commands.{command}")
    parser = module.Command().create_parser("foilworks", command)
    for group in parser._actions if subcommand else ():
        if isinstance(group, argparse._SubParsersAction):
            parser = group.choices[subcommand]
    assert not {option for action in parser._actions for option in action.option_strings} & set(MOVED[name])


def test_shared_options_work_before_and_behind_a_subcommand():
    command = import_module("foilworks.site.management.commands.subtest").Command()
    parser = command.create_parser("foilworks", "subtest")
    link = ["link", "x", "--project", "p", "--proficiency", "y"]
    flags = ["--json", "--traceback", "-v", "2"]
    for arguments in ([*flags, *link], [*link, *flags]):
        options = parser.parse_args(arguments)
        assert (options.as_json, options.traceback, options.verbosity) == (True, True, 2)
    options = parser.parse_args(link)
    assert (options.as_json, options.traceback, options.verbosity) == (False, False, 1)


def test_wrong_usage_is_status_2(capsys):
    with pytest.raises(SystemExit) as leaving:
        run(["up", "--port", "many"])
    assert leaving.value.code == 2
    assert "invalid int value" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "name"), [(["up", "--workers"], "--workers"), (["worker", "--cpu", "--slots"], "--slots")]
)
@pytest.mark.parametrize("number", ["0", "-1"])
def test_serving_needs_at_least_one_worker(capsys, arguments, name, number):
    with pytest.raises(SystemExit) as leaving:
        run([*arguments, number])
    assert leaving.value.code == 1
    assert capsys.readouterr().err == f"foilworks: {name} is {number}; give 1 or more\n"


def test_an_impossible_home_gives_one_line():
    done = foilworks("doctor", FOILWORKS_HOME="/proc/none/such")
    assert done.returncode == 1
    assert done.stderr.startswith("foilworks: the settings are wrong: FOILWORKS_HOME cannot be made")
    assert len(done.stderr.splitlines()) == 1


def test_django_commands_work_as_well(tmp_path):
    done = foilworks("migrate", "--verbosity", "0", FOILWORKS_HOME=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "foilworks.sqlite3").exists()


def test_the_first_account_needs_a_terminal_or_a_given_password(tmp_path):
    home = {"FOILWORKS_HOME": str(tmp_path)}
    foilworks("migrate", "--verbosity", "0", **home)
    refused = foilworks("createsuperuser", **home)
    assert refused.returncode == 1
    assert refused.stderr.startswith("foilworks: no terminal to ask")
    assert len(refused.stderr.splitlines()) == 1
    assert "manage.py" not in refused.stdout + refused.stderr
    asked = ("createsuperuser", "--noinput", "--username", "olga", "--email", "olga@example.org")
    made = foilworks(*asked, "--json", DJANGO_SUPERUSER_PASSWORD="moving-squares", **home)
    assert (made.returncode, made.stdout, made.stderr) == (0, '{"created": true}\n', "")
    again = foilworks(*asked, DJANGO_SUPERUSER_PASSWORD="moving-squares", **home)
    assert (again.returncode, again.stderr) == (1, "foilworks: That username is already taken.\n")


# Libraries that take a tenth of a second or more: the work of a command may import them, its start may not.
HEAVY = {
    *("torch", "transformers", "sentence_transformers", "safetensors", "spacy", "nltk", "ray", "datasets", "sklearn"),
    *("pandas", "pyarrow", "crowdkit", "matplotlib", "boto3", "scipy.special", "scipy.optimize", "scipy.sparse"),
}
# These do not even need numpy or a decoder.
LIGHT = ("check", "migrate", "token", "up", "worker")
STARTS = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "foilworks.site.settings"
import django
django.setup()
from foilworks.site.cli import run
for name in sys.argv[2:]:
    try:
        run([name, "--help"][not name:])
    except SystemExit as leaving:
        assert leaving.code == 0, name
sys.stderr.write(" ".join(sorted(set(sys.argv[1].split()) & set(sys.modules))))
"""


@pytest.mark.parametrize(
    ("names", "unwanted"), [(("", *LIGHT), HEAVY | {"numpy", "scipy", "av"}), (own_commands(), HEAVY)]
)
def test_no_command_imports_a_heavy_library_at_its_start(names, unwanted):
    """In one process; `export` and `audit` are among them all."""
    assert set(names) >= {"", *LIGHT} or set(names) >= {"export", "audit"}
    program = [sys.executable, "-c", STARTS, " ".join(sorted(unwanted)), *names]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("usage:") == len(names)


@pytest.mark.full
@pytest.mark.parametrize(("arguments", "limit"), [((), 910), (("export",), 1350)])
def test_the_start_of_a_command_imports_few_modules(arguments, limit):
    program = (
        "import atexit, sys; atexit.register(lambda: sys.stderr.write(str(len(sys.modules)))); "
        "from foilworks.site.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments, "--help"], capture_output=True, text=True)
    assert 100 < int(done.stderr.split()[-1]) < limit


def test_starting_a_command_does_not_import_numpy():
    """A sixth of a start, at each command of everybody; those that count load it themselves."""
    program = "import django, sys; django.setup(); print(sorted({'numpy', 'scipy', 'torch'} & set(sys.modules)))"
    settings = {**os.environ, "DJANGO_SETTINGS_MODULE": "foilworks.site.settings"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=settings, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.full
def test_the_first_command_of_an_empty_home_makes_its_tables_and_doctor_says_that_there_are_none(tmp_path):
    home = {"FOILWORKS_HOME": str(tmp_path), "DJANGO_SETTINGS_MODULE": "foilworks.site.settings"}
    checks = json.loads((looked := foilworks("doctor", "--json", **home)).stdout)["checks"]
    assert looked.returncode == 0
    assert {check["name"]: check["state"] for check in checks}["database"] == "absent"
    (records := tmp_path / "items.jsonl").write_text('{"id": "1", "video": "a.mp4", "caption": "A dog runs."}\n')
    first = foilworks("import", "jsonl", str(records), "--project", "p", "--create", "--json", **home)
    assert first.returncode == 0
    assert json.loads(first.stdout)["created"]["captions"] == 1
    checks = json.loads(foilworks("doctor", "--json", **home).stdout)["checks"]
    assert {check["name"]: check["state"] for check in checks}["database"] == "ok"


@pytest.mark.full
@pytest.mark.slow(seconds=60)
def test_every_first_command_of_an_empty_home_prepares_it_or_needs_no_database(tmp_path):
    home = {"FOILWORKS_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT)}
    (tmp_path / "home").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "tests.foilworks.first_commands"],
        env={**os.environ, **home},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {name for name, *_ in rows} == set(own_commands()) - PREPARE_THEMSELVES - {"worker"}
    for _name, words, outcome, errors in rows:
        assert outcome in {"prepared", "0", "1"}, (words, outcome, errors)
        assert outcome != "1" or errors.startswith("foilworks: "), (words, errors)
        assert "no such table" not in errors, words
    assert len({name for name, _words, outcome, _errors in rows if outcome == "prepared"}) >= 28
