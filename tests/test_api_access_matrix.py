"""Every operation of the API x every kind of person x every scope of a token, against one table.

The document of the API is the list: an operation that has no row here fails. Without a good token it is 401; a project
does not exist (404) for who is no member of it; a member without the role, or a token without the scope, is refused
(403); ids of another project, and other people's work, do not exist (404).
"""

import json
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.utils import timezone

from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.actions.webhooks import add_webhook
from foilworks.core.projects.models import ApiToken, User
from foilworks.site.api.api import api
from tests.factories import make_caption, make_item, make_subtest, make_video
from tests.test_access_matrix import World, make_world

pytestmark = pytest.mark.django_db

MEMBERS = ("annotator", "reviewer", "validator", "researcher", "superuser")
SIGNED_IN = ("stranger", *MEMBERS)
EVERYBODY = ("anonymous", *SIGNED_IN)
OWNERS = ("researcher", "superuser")
READ, WORK, MANAGE = ApiToken.Scope.READ, ApiToken.Scope.WORK, ApiToken.Scope.MANAGE
CSV = b"id,video,caption,foil\na,a.mp4,a man sits.,a man stands.\n"
# Of documentation: nobody is there, and nothing is sent in a test whose jobs do not run.
HOOK = "https://93.184.216.34/hook"


@dataclass(frozen=True)
class Rule:
    """`ok`: what those in `may` are answered; `pk`, `token`: names of the world's values; `data`: what is sent."""

    may: tuple[str, ...] = OWNERS
    ok: int = 200
    pk: str = ""
    token: str = ""
    data: dict[str, Any] | None = None
    form: bool = False
    scope: str = ""
    stranger: int = 404
    refused: int = 403
    more: dict[str, str] = field(default_factory=dict)


def own_work(**fields: Any) -> Rule:
    return Rule(("annotator",), token="edit_token", stranger=404, refused=404, **fields)


def file(name: str, content: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


RULES: dict[str, Rule] = {
    "me": Rule(SIGNED_IN),
    "list_projects": Rule(SIGNED_IN),
    "create_project": Rule(ok=201, data={"name": "Another", "slug": "another"}, stranger=403),
    "read_project": Rule(MEMBERS),
    "list_members": Rule(),
    "create_member": Rule(ok=201, data={"username": "newcomer", "roles": ["annotator"], "new_account": True}),
    "read_member": Rule(pk="member"),
    "change_roles": Rule(pk="member", data={"roles": ["annotator", "validator"]}),
    "remove_member": Rule(pk="member", ok=204),
    "list_subtests": Rule(),
    "create_subtest": Rule(ok=201, data={"name": "direction"}),
    "list_imports": Rule(),
    "create_import": Rule(ok=202, form=True, data={"format": "csv", "records": ("a.csv", CSV)}),
    "read_import": Rule(pk="import"),
    "confirm_import": Rule(ok=202, pk="import"),
    "discard_import": Rule(ok=204, pk="import"),
    "list_items": Rule(),
    "read_item": Rule(pk="item"),
    "move_item": Rule(pk="item", data={"move": "retract", "reason": "the clip was cut in two"}),
    "list_queues": Rule(MEMBERS),
    "claim": Rule(("annotator", "superuser"), scope=WORK, more={"stage": "edit"}, data={}),
    "list_votes": Rule(),
    "export_votes": Rule(),
    "list_runs": Rule(),
    "start_run": Rule(ok=202, data={"subtest": "subtest", "method": "fake"}),
    "read_run": Rule(pk="generation_run"),
    "list_candidates": Rule(pk="generation_run"),
    "list_tunings": Rule(),
    "start_tuning": Rule(ok=202, data={"params": {"model": "fake-t5:"}}),
    "read_tuning": Rule(pk="tuning"),
    "read_choices": Rule(),
    "preview_choices": Rule(data={"subtest": "subtest", "random": "random items"}),
    "compose_choices": Rule(ok=202, data={"subtest": "subtest", "random": "random items"}),
    "list_reports": Rule(),
    "read_report": Rule(more={"kind": "reviewing"}),
    # The world is small: its pages compute this report themselves.
    "compute_report": Rule(ok=400, more={"kind": "reviewing"}, data={}),
    "list_releases": Rule(),
    # The world's content is frozen already: the same release is the answer.
    "create_release": Rule(ok=201, data={}),
    "read_freeze": Rule(ok=404),
    "read_release": Rule(pk="release"),
    "read_export": Rule(ok=404, pk="release", more={"export": 1}),
    "read_export_file": Rule(ok=404, pk="release", more={"export": 1}),
    "list_release_items": Rule(pk="release"),
    "export_release": Rule(pk="release", more={"exporter": "jsonl"}, data={}),
    "list_webhooks": Rule(),
    "create_webhook": Rule(ok=201, data={"url": HOOK + "/2", "events": ["release.frozen"]}),
    "ping_webhook": Rule(ok=202, pk="webhook"),
    "rotate_webhook": Rule(pk="webhook", data={}),
    "delete_webhook": Rule(ok=204, pk="webhook"),
    "list_deliveries": Rule(pk="webhook"),
    "list_scoring": Rule(),
    "start_scoring": Rule(ok=202, pk="release", data={"spec": "fake:"}),
    "bring_scores": Rule(ok=202, pk="release", form=True, data={"scores": ("s.jsonl", b"{}\n")}),
    "read_scoring": Rule(pk="scoring_run"),
    "read_ladder": Rule(pk="scoring_run"),
    "list_scores": Rule(pk="scoring_run"),
    "read_media": Rule(pk="video"),
    "read_clip": Rule(("annotator",), token="clip_token", refused=404),
    "read_frame": Rule(MEMBERS, pk="frame"),
    "read_work": own_work(),
    "heartbeat": own_work(scope=WORK, data={}),
    "skip": own_work(scope=WORK, ok=204),
    "submit": own_work(scope=WORK, ok=201, data={"texts": ["a man unrolls a shirt."]}),
}


CLIENT = Client()
# operation -> (method, path); its name is that of its function.
OPERATIONS: dict[str, tuple[str, str]] = {}
for _path, _methods in api.get_openapi_schema()["paths"].items():
    for _method, _about in _methods.items():
        OPERATIONS[_about["summary"].lower().replace(" ", "_")] = (_method.upper(), _path)


@pytest.fixture
def worlds(settings) -> tuple[World, World]:
    """Two projects. Making them is what takes the time: a test tries all operations on one pair of them."""
    settings.API_RATE_LIMIT_PER_MINUTE = 0
    return make_api_world(), make_api_world()


def make_api_world() -> World:
    world = make_world()
    hook = add_webhook(world.people["researcher"], _project(world), HOOK, ["release.frozen"])
    world.values["webhook"] = hook.pk
    project = _project(world)
    caption = make_caption(make_video(project, split="train"), "A man rests.")
    make_item(make_subtest(project, name="random items"), caption, ("A dog barks.",), key="random")
    return world


def _project(world: World) -> Any:
    return world.people["researcher"].memberships.get().project


def headers_of(person: User | None, scope: str = MANAGE, **narrowed: Any) -> dict[str, str]:
    if person is None:
        return {}
    return {"Authorization": f"Bearer {make_token(person, name='test', scope=scope, **narrowed).secret}"}


def address(name: str, world: World, foreign: World | None = None) -> str:
    rule, values = RULES[name], (foreign or world).values
    named = {"slug": world.slug, **rule.more}
    if rule.pk:
        named["pk"] = values[rule.pk]
    if rule.token:
        named["token"] = values[rule.token]
    return OPERATIONS[name][1].format(**named)


def body_of(rule: Rule, world: World) -> dict[str, Any]:
    data = dict(rule.data or {})
    if rule.form:
        return {"data": {k: file(*v) if isinstance(v, tuple) else v for k, v in data.items()}}
    if data.get("subtest") == "subtest":
        data["subtest"] = world.values["subtest"]
    return {"data": json.dumps(data), "content_type": "application/json"}


def ask(name: str, world: World, headers: dict[str, str], foreign: World | None = None) -> Any:
    """The answer, whatever it wrote taken back."""
    method, _path = OPERATIONS[name]
    sent = body_of(RULES[name], world) if method in {"POST", "PATCH"} else {}
    with transaction.atomic():
        response = getattr(CLIENT, method.lower())(address(name, world, foreign), headers=headers, **sent)
        if response.streaming:
            # Read to its end, so that no file stays open.
            b"".join(response.streaming_content)
        transaction.set_rollback(True)
    return response


def expected(name: str, person: str) -> int:
    rule = RULES[name]
    if person == "anonymous":
        return 401
    if name == "claim" and person == "superuser":
        # Nothing is left: the one piece is in the annotator's hands.
        return 204
    if person in rule.may:
        return rule.ok
    return rule.stranger if person == "stranger" else rule.refused


def test_every_operation_has_a_rule_and_every_rule_an_operation():
    assert set(OPERATIONS) == set(RULES)


def test_who_is_answered_what(worlds):
    world, _other = worlds
    headers = {person: headers_of(world.people[person]) for person in EVERYBODY}
    wrong, wordless, told = {}, [], []
    for name in RULES:
        for person in EVERYBODY:
            answer = ask(name, world, headers[person])
            if answer.status_code != expected(name, person):
                wrong[name, person] = (answer.status_code, answer.content[:200])
            if answer.status_code >= 400 and not answer.json().get("detail"):
                wordless.append((name, person))
            told += [(name, person, word) for word in hidden_from(person, world, answer) if word in said(answer)]
    assert not wrong
    assert not wordless
    assert not told


def hidden_from(person: str, world: World, answer: Any) -> tuple[str, ...]:
    """Names that the person may not know: outside the project all of them; a member who is refused knows the project
    and no more; whoever judges never learns which video it is."""
    if person in ("anonymous", "stranger"):
        return world.names
    if answer.status_code in (403, 404):
        return world.names[1:]
    return world.names[2:3] if person == "validator" else ()


def said(answer: Any) -> str:
    return "" if answer.streaming else json.dumps(answer.json(), ensure_ascii=False) if answer.content else ""


def test_a_token_does_what_its_scope_says(worlds):
    world, _other = worlds
    order, wrong = [READ, WORK, MANAGE], {}
    headers = {(p, scope): headers_of(world.people[p], scope) for p in ("annotator", "superuser") for scope in order}
    for name, rule in RULES.items():
        person = "superuser" if "superuser" in rule.may and name != "claim" else "annotator"
        needed = rule.scope or (READ if OPERATIONS[name][0] == "GET" else MANAGE)
        for scope in order:
            right = rule.ok if order.index(scope) >= order.index(needed) else 403
            status = ask(name, world, headers[person, scope]).status_code
            if status != right:
                wrong[name, scope] = status
    assert not wrong


def test_rows_of_another_project_are_not_there(worlds):
    """Somebody of both projects, too, finds a row only under its own project."""
    world, other = worlds
    people = (world.people["researcher"], other.people["researcher"], world.people["superuser"])
    found = {
        (name, person.username): ask(name, world, headers, foreign=other)
        for person in people
        for headers in [headers_of(person)]
        for name in RULES
        if RULES[name].pk
    }
    assert {name: answer.status_code for name, answer in found.items() if answer.status_code != 404} == {}
    names = {*world.names[1:], *other.names}
    assert {name: word for name, answer in found.items() for word in names if word in said(answer)} == {}


def test_a_token_of_another_project_or_role_reaches_nothing_here(worlds):
    world, other = worlds
    person = world.people["superuser"]
    elsewhere, lesser = headers_of(person, project=_project(other)), headers_of(person, role="annotator")
    here = headers_of(person, project=_project(world), role="researcher")
    wrong = {}
    for name, rule in RULES.items():
        if "slug" not in OPERATIONS[name][1]:
            continue
        wanted = [(elsewhere, 404), *([(lesser, 403), (here, rule.ok)] if rule.may == OWNERS else [])]
        for headers, right in wanted:
            status = ask(name, world, headers).status_code
            if status != right:
                wrong[name, right] = status
    assert not wrong


def test_revoked_spent_and_made_up_tokens_open_nothing(worlds):
    world, _other = worlds
    person = world.people["researcher"]
    made = make_token(person, name="short", scope=MANAGE)
    good, row = {"Authorization": f"Bearer {made.secret}"}, ApiToken.objects.filter(pk=made.token.pk)
    assert ask("read_project", world, good).status_code == 200
    row.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert ask("read_project", world, good).status_code == 401
    row.update(expires_at=timezone.now() + timedelta(days=1), revoked_at=timezone.now())
    assert ask("read_project", world, good).status_code == 401
    for wrong in ("Bearer fw_", "Bearer fw_" + "x" * 43, "Bearer " + "x" * 200, "Basic YTpi", "fw_x", "Bearer é"):
        assert ask("read_project", world, {"Authorization": wrong}).status_code == 401


def test_a_closed_account_and_a_session_reach_nothing(worlds):
    world, _other = worlds
    headers = headers_of(world.people["reviewer"])
    User.objects.filter(pk=world.people["reviewer"].pk).update(is_active=False)
    assert ask("read_project", world, headers).status_code == 401
    User.objects.filter(pk=world.people["reviewer"].pk).update(is_active=True)
    client = Client()
    client.force_login(world.people["superuser"])
    assert client.get(address("read_project", world)).status_code == 401
