"""Run every example of every command as the first one of an empty home; print a JSON row for each.

The home stays empty: a command that would create the tables stops there and counts as "prepared".
"""

import json
import os
import shlex
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

import django

# It serves the queue until somebody stops it.
RUNS_ON = {"worker"}


class PreparedError(BaseException):
    pass


def _stop(*_arguments: object, **_options: object) -> None:
    raise PreparedError


def outcome_of(words: list[str]) -> tuple[str, str]:
    """Return "prepared" or the exit status of the command, and what it printed on stderr."""
    from django.db import connections

    from foilworks.site import cli

    connections.close_all()
    errors = StringIO()
    try:
        with redirect_stdout(StringIO()), redirect_stderr(errors):
            outcome = str(cli.run(words))
    except PreparedError:
        outcome = "prepared"
    except SystemExit as error:
        outcome = str(error.code)
    return outcome, errors.getvalue()


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "foilworks.site.settings")
    django.setup()
    from django.core.management import get_commands, load_command_class

    from foilworks.site import cli

    cli.call_command = _stop
    for name in cli.own_commands():
        if name in cli.PREPARE_THEMSELVES | RUNS_ON:
            continue
        command = load_command_class(get_commands()[name], name)
        for line in command.example.replace("\\\n", " ").splitlines():
            _program, *words = shlex.split(line)
            outcome, errors = outcome_of(words)
            sys.stdout.write(json.dumps([name, words, outcome, errors]) + "\n")


if __name__ == "__main__":
    main()
