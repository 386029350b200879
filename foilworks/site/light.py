"""Run the commands on files where the extra `web` is not installed: no settings, no tables."""

import sys
from importlib.util import find_spec
from pathlib import Path

import django
from django.conf import settings
from django.core.management import load_command_class

COMMANDS = ("audit", "foil", "metrics", "prune")
INSTALL = "pip install 'foilworks[web]'"
SITE = Path(__file__).parent


def has_web() -> bool:
    """Report whether the packages of the extra `web` are installed."""
    return find_spec("django_htmx") is not None


def run(arguments: list[str]) -> int:
    """Run a command on files and return its exit status; of another one, print how to install what it needs."""
    command = next((argument for argument in arguments if argument not in {"help", "-h", "--help"}), "")
    names = ", ".join(COMMANDS)
    if not command:
        sys.stdout.write(f"usage: foilworks COMMAND [options]\n\nCommands: {names}. For all: `{INSTALL}`\n")
        return 0
    if command not in COMMANDS:
        sys.stderr.write(f"foilworks: {command} needs more packages; run `{INSTALL}`. Without them: {names}\n")
        return 1
    settings.configure(
        # Those of foilworks/site/settings.py.
        MAX_TABLE_MB=512,
        MAX_DECODE_MEMORY_MB=2048,
        MAX_DECODE_SECONDS=1800,
        STATICFILES_DIRS=[SITE / "static"],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "DIRS": [SITE / "templates"],
                "OPTIONS": {
                    "builtins": ["django.templatetags.i18n", "foilworks.core.projects.templatetags.wording"],
                    "libraries": {"numbers": "evaluation.templatetags.numbers"},
                },
            }
        ],
    )
    django.setup()
    load_command_class("foilworks.site", command).run_from_argv(
        ["foilworks", command, *(arguments[1:] if arguments[0] == command else ["--help"])]
    )
    return 0
