import pytest

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
