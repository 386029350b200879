import json

import pytest
from django.core.cache import cache
from django.core.management import call_command

from foilworks.core.projects.models import Role, User
from tests.factories import make_member


@pytest.fixture
def person(project) -> User:
    return make_member(project, Role.RESEARCHER, name="owner")


@pytest.fixture
def owner(client, person):
    """A browser in which a researcher of the project is signed in."""
    client.force_login(person)
    return client


@pytest.fixture(autouse=True)
def fresh_memory() -> None:
    cache.clear()


@pytest.fixture
def command(capsys):
    """Run a command; return its exit status, the JSON of stdout or None, and stderr."""

    def run(*arguments):
        status = 0
        try:
            call_command(*map(str, arguments), "--json")
        except SystemExit as left:
            status = int(left.code)
        out, err = capsys.readouterr()
        return status, json.loads(out) if out else None, err

    return run


@pytest.fixture
def write(tmp_path):
    """Write lines, or values as JSON lines, into a file of this name."""

    def writer(name, *lines):
        path = tmp_path / name
        path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n")
        return path

    return writer
