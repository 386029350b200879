import pytest

from foilworks.core.projects.models import Role, User
from tests.factories import make_member


@pytest.fixture
def owner(project) -> User:
    return make_member(project, Role.RESEARCHER)
