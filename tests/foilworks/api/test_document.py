"""The whole document, tried: whatever is sent, nothing is answered that the document does not say, and never a 500.

Requests at rows that are there go out three times: as the project's researcher, as a stranger, and as nobody.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from foilworks.site.wsgi import application
from tests.test_access_matrix import World
from tests.test_api_access_matrix import OPERATIONS, RULES, headers_of, make_api_world

pytestmark = pytest.mark.django_db

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
EXAMPLES = 4
# Open to everybody who signed in: a stranger's own things.
OWN = {name for name, rule in RULES.items() if "stranger" in rule.may}


@pytest.fixture(autouse=True)
def one_connection() -> Iterator[None]:
    """As Django's own client does: the test's transaction stays open from one request to the next."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.mark.full
def test_every_response_matches_the_document(settings):
    settings.API_RATE_LIMIT_PER_MINUTE = 0
    world = make_api_world()
    schema = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", read_to_the_end)
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) == len(OPERATIONS)
    # One token a person: nobody may have as many as there are operations.
    headers = {person: headers_of(world.people[person]) for person in ("annotator", "researcher", "stranger")}
    for operation in operations:
        tried(operation, world, headers)()


def read_to_the_end(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
    """The application; its answer is closed, as every server does, so that no file stays open."""
    with closing(application(environ, start_response)) as answer:
        return [b"".join(answer)]


def tried(operation: Any, world: World, headers: dict[str, dict[str, str]]) -> Callable[[], None]:
    """The test of one operation: random requests, half of them at rows that are there."""
    name = next(name for name, where in OPERATIONS.items() if where == (operation.method.upper(), operation.path))
    owner = "annotator" if "researcher" not in RULES[name].may else "researcher"
    tokens = [headers[person] for person in (owner, "stranger")]

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(), there=st.booleans())
    def test(case: Any, there: bool) -> None:
        case.headers.pop("Authorization", None)
        if there:
            case.path_parameters = {**(case.path_parameters or {}), **real(name, world)}
        answer = sent(case, tokens[0])
        case.validate_response(answer, checks=CHECKS)
        if there:
            stranger, nobody = sent(case, tokens[1]), sent(case, {})
            case.validate_response(stranger, checks=CHECKS)
            assert nobody.status_code == 401
            assert name in OWN or stranger.status_code >= 400, (name, stranger.status_code)

    return test


def real(name: str, world: World) -> dict[str, Any]:
    """Path parameters of the operation that lead to rows of the world."""
    rule = RULES[name]
    found = {"slug": world.slug, **rule.more}
    if rule.pk:
        found["pk"] = world.values[rule.pk]
    if rule.token:
        found["token"] = world.values[rule.token]
    found |= {parameter: world.values[value] for parameter, value in rule.also.items()}
    return {key: value for key, value in found.items() if f"{{{key}}}" in OPERATIONS[name][1]}


def sent(case: Any, headers: dict[str, str]) -> Any:
    """The answer; whatever it wrote is taken back."""
    with transaction.atomic():
        answer = case.call(headers=headers)
        transaction.set_rollback(True)
    return answer
