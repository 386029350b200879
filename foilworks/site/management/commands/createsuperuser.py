"""`foilworks createsuperuser`: Django's command, with the password rules first and one-line errors."""

import json
import sys
from typing import Any

from django.contrib.auth.management.commands.createsuperuser import Command as DjangoCreateSuperuser
from django.contrib.auth.password_validation import password_validators_help_texts
from django.core.management.base import CommandError

from foilworks.site.management.base import FoilworksCommand, one_line

NO_TERMINAL = (
    "no terminal to ask for a password; run the command in a terminal, or set DJANGO_SUPERUSER_PASSWORD "
    "and give --noinput --username NAME --email ADDRESS"
)


class Command(FoilworksCommand, DjangoCreateSuperuser):
    help = "create a site administrator, the first account of an installation"
    example = "foilworks createsuperuser --username olga --email olga@example.org"

    def handle(self, *args: Any, **options: Any) -> None:
        as_json, verbosity = options.pop("as_json"), options["verbosity"]
        if options["interactive"]:
            if not self.stdin.isatty():
                self._fail(NO_TERMINAL)
            self.say(" ".join(password_validators_help_texts()))
        try:
            DjangoCreateSuperuser.handle(self, *args, **{**options, "verbosity": 0 if as_json else verbosity})
        except CommandError as error:
            self._fail(str(error).removeprefix("Error: "))
        if as_json:
            self.stdout.write(json.dumps({"created": True}))

    def _fail(self, why: str) -> None:
        self.stderr.write(f"foilworks: {one_line(why)}")
        sys.exit(1)
