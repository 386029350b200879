"""Filters and orders that lead to columns nobody offered (`__` paths): passwords and other people's rows, letter by
letter. The API takes what is listed and refuses the rest; pages take the choices of their forms.
"""

import base64
import json

import pytest
from django.test import Client

from evaluation.items.forms import ItemFilter
from evaluation.items.listing import narrowed
from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.models import Project
from foilworks.site.api import items
from foilworks.site.api.items import ItemsAsked
from tests.attacks.guards import Guard, guarded_by, replaced
from tests.factories import make_item, make_member, make_project, make_subtest
from tests.test_api_access_matrix import OPERATIONS, RULES, make_api_world

pytestmark = pytest.mark.django_db

PATHS = (
    "created_by__password__startswith",
    "subtest__project__members__email",
    "caption__video__project__slug",
    "person__password",
    "pk__in",
    "id__gt",
    "project",
    "task__slots__token__startswith",
)


def unchecked_orders(patch: pytest.MonkeyPatch) -> None:
    """The list of items takes what it is sent, as if its shape named no orders."""

    def as_sent(model, request, api, path_params):
        return {"query": ItemsAsked.model_construct(**{"limit": 50, "cursor": "", **request.GET.dict()})}

    operations = next(view for path, view in items.router.path_operations.items() if not path.strip("/")).operations
    (listing,) = [operation for operation in operations if operation.methods == ["GET"]]
    (shape,) = [model for model in listing.models if "query" in model.model_fields]
    patch.setattr(shape, "resolve", classmethod(as_sent))


KNOWN = replaced(
    "foilworks.site.api.paging.only_known",
    "unknown filters are refused, not ignored",
    lambda request, asked: None,
)
ORDERS = Guard(
    "foilworks.site.api.items.ItemsAsked.order", "only listed columns can define the order", unchecked_orders
)
SIGNED = replaced(
    "foilworks.site.api.paging._SIGNER.unsign_object",
    "cursors are signed, so nobody can forge one",
    lambda cursor: json.loads(base64.urlsafe_b64decode(cursor.partition(":")[0] + "==")),
)
CHOICES = replaced(
    "evaluation.items.forms.ItemFilter.chosen",
    "a page filters by the choices of its form, never by a column name",
    lambda self: {"state": "valid", **dict(self.data.items())},
)


@guarded_by(KNOWN)
def test_no_list_takes_a_path_as_a_filter():
    world = make_api_world()
    headers = {"Authorization": f"Bearer {make_token(world.people['researcher'], name='x', scope='manage').secret}"}
    # Queues and reports are whole lists: they take nothing.
    lists = [name for name in RULES if name.startswith("list_") and name not in {"list_queues", "list_reports"}]
    assert len(lists) > 10
    for name in lists:
        rule, path = RULES[name], OPERATIONS[name][1]
        also = {parameter: world.values[value] for parameter, value in rule.also.items()}
        url = path.format(slug=world.slug, pk=world.values.get(rule.pk), token="", **rule.more, **also)
        for wanted in PATHS[:3] if name != "list_items" else PATHS:
            assert Client().get(url, {wanted: "a"}, headers=headers).status_code == 422, (name, wanted)


@pytest.fixture
def listed():
    """(project, headers) of a list of two pages."""
    project = make_project()
    owner = make_member(project, "researcher")
    for _ in range(3):
        make_item(make_subtest(project))
    secret = make_token(owner, name="x", scope="manage").secret
    return project, {"Authorization": f"Bearer {secret}"}


@guarded_by(ORDERS)
@pytest.mark.parametrize("order", ["subtest__project__memberships__person__password", "caption__text", "-state"])
def test_no_list_is_ordered_by_another_column(client, listed, order):
    project, headers = listed
    url = f"/api/v1/projects/{project.slug}/items"
    assert client.get(url, {"order": order}, headers=headers).status_code == 422


@guarded_by(SIGNED)
def test_nobody_makes_a_cursor(client, listed):
    project, headers = listed
    url = f"/api/v1/projects/{project.slug}/items"
    assert client.get(url, {"limit": 1}, headers=headers).json()["next"]
    made = base64.urlsafe_b64encode(json.dumps(["id", 0, 0]).encode()).decode() + ":x"
    assert client.get(url, {"limit": 1, "cursor": made}, headers=headers).status_code == 422


@guarded_by(CHOICES)
@pytest.mark.parametrize("field", ["subtest", "method", "state"])
def test_a_page_is_narrowed_by_its_choices_alone(field):
    project, other = make_project(), make_project()
    make_item(make_subtest(project), state="valid")
    theirs = make_item(make_subtest(other), state="valid")
    value = {"subtest": str(theirs.subtest_id), "method": "fake", "state": "no such"}[field]
    form = ItemFilter(Project.objects.get(pk=project.pk), {field: value})
    assert field not in form.chosen()
    assert narrowed(project, form.chosen(), None).count() == 1
