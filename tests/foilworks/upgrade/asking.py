"""What the pages, the API and the rows of an upgraded installation say, beside the record. Runs inside of it."""

import json
from collections.abc import Iterator
from typing import Any

import pyotp
from django.apps import apps
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import Client

from corpus.models import Item
from evaluation.items.history import history_of
from generation.models import Candidate
from projects.models import AuditEvent, Project, User

Found = Iterator[Any]
# An address may have moved for good; what stands at the new one has to answer as before.
MOVED = frozenset({301, 308})
# Its answer depends on the processes that run beside it.
NOT_THE_CODES = frozenset({"readyz"})
# By row number a judge could find out which clip it is (decision 73): people who only do the work are refused there.
FOR_RESEARCHERS = frozenset({"corpus:media", "read_media"})
# A refused form comes back with its messages (422). 0.1.0 answered 400, or led to a page with the message.
REFUSED_IN_PLACE = frozenset({"generation:tunings", "evaluation:blind_bars", "evaluation:blind_scorer"})


def addresses(kept: dict[str, Any]) -> Found:
    """Ask every recorded address as every person, by both methods."""
    for row in kept["said"]["addresses"]:
        for person in row["answers"]:
            yield from _page(kept, row, person)


def pages(kept: dict[str, Any]) -> Found:
    """GET every recorded address once, as somebody who may read it."""
    for row in kept["said"]["addresses"]:
        if row["method"] == "GET":
            yield from _page(kept, row, min(row["answers"], key=row["answers"].__getitem__))


def _page(kept: dict[str, Any], row: dict[str, Any], person: str) -> Found:
    if row["name"] in NOT_THE_CODES:
        return
    client = _signed_in(kept, person)
    answer = _asked(client, row["method"], row["path"], data=row["data"])
    if answer.status_code in MOVED:
        answer = _asked(client, row["method"], answer.headers["Location"], data=row["data"])
    was = row["answers"][person]
    if answer.status_code != was and not _is_intended(row, was, answer.status_code):
        yield {**_named(row), "person": person, "was": was, "is": answer.status_code}


def _is_intended(row: dict[str, Any], was: int, now: int) -> bool:
    is_closed = row["name"] in FOR_RESEARCHERS and (was, now) == (200, 403)
    return is_closed or (row["name"] in REFUSED_IN_PLACE and was in {302, 400} and now == 422)


def _signed_in(kept: dict[str, Any], person: str) -> Client:
    """By the session that the old version opened."""
    client = Client()
    if person != "anonymous":
        client.cookies[settings.SESSION_COOKIE_NAME] = kept["world"]["people"][person]["session"]
    return client


def _asked(client: Client, method: str, path: str, **sent: Any) -> HttpResponse:
    """Ask, read to the end and take back what it wrote."""
    with transaction.atomic():
        answer = getattr(client, method.lower())(path, **sent)
        answer.read_to_the_end = b"".join(answer.streaming_content) if answer.streaming else answer.content
        transaction.set_rollback(True)
    return answer


def _named(row: dict[str, Any]) -> dict[str, str]:
    return {name: row[name] for name in ("name", "method", "path")}


def operations(kept: dict[str, Any]) -> Found:
    """Ask every operation of the API as every person; the answers have at least the names that they had."""
    for row in kept["said"]["operations"]:
        for person, status in row["answers"].items():
            yield from _operation(kept, row, person, status)


def few_operations(kept: dict[str, Any]) -> Found:
    """Ask each once, as somebody who may."""
    for row in kept["said"]["operations"]:
        person = min(row["answers"], key=row["answers"].__getitem__)
        yield from _operation(kept, row, person, row["answers"][person])


def _operation(kept: dict[str, Any], row: dict[str, Any], person: str, status: int) -> Found:
    headers = {}
    if person != "anonymous":
        headers["Authorization"] = f"Bearer {kept['world']['people'][person]['token']}"
    answer = _asked(Client(), row["method"], row["path"], headers=headers, **_body(row))
    if answer.status_code != status:
        if not _is_intended(row, status, answer.status_code):
            yield {**_named(row), "person": person, "was": status, "is": answer.status_code}
    elif status < 300 and row["shape"] is not None and answer.read_to_the_end:
        lost = list(_lost(row["shape"], json.loads(answer.read_to_the_end), row["name"]))
        yield from ({**_named(row), "lost": name} for name in lost)


def _body(row: dict[str, Any]) -> dict[str, Any]:
    if row["files"]:
        files = {name: SimpleUploadedFile(file, text.encode()) for name, (file, text) in row["files"].items()}
        return {"data": {**row["body"], **files}}
    if row["method"] in {"POST", "PATCH"}:
        return {"data": json.dumps(row["body"] or {}), "content_type": "application/json"}
    return {}


def _lost(shape: Any, value: Any, place: str) -> Iterator[str]:
    """Names of the recorded answer that are missing in this one."""
    if isinstance(shape, dict) and isinstance(value, dict):
        for name, part in shape.items():
            if name not in value:
                yield f"{place}.{name}"
            else:
                yield from _lost(part, value[name], f"{place}.{name}")
    elif isinstance(shape, list) and isinstance(value, list) and shape and value:
        yield from _lost(shape[0], value[0], f"{place}[]")


def entrances(kept: dict[str, Any]) -> Found:
    """Come in by each way that was open: password, second factor, tokens, links, a key of a write, a cursor."""
    world, checks = kept["world"], {}
    people, rows = world["people"], world["rows"]
    signed = _asked(Client(), "POST", "/sign-in/", data={"username": people["reviewer"]["username"],
                                                         "password": world["password"]})  # fmt: skip
    checks["password"] = signed.status_code == 302 and "code" not in signed.headers["Location"]
    checks["second factor"] = _by_second_factor(people["stranger"], world["password"])
    for scope, secret in people["annotator"]["tokens"].items():
        answer = _asked(Client(), "GET", "/api/me", headers={"Authorization": f"Bearer {secret}"})
        checks[f"token: {scope}"] = answer.status_code == 200
    for name in ("invitation_token", "invitation_by_action"):
        checks[name] = _asked(Client(), "GET", f"/join/{rows['values'][name]}/").status_code == 200
    owner = {"Authorization": f"Bearer {people['researcher']['token']}"}
    once = world["once"]
    again = Client().post(once["path"], json.dumps(once["body"]), "application/json",
                          headers={**owner, "Idempotency-Key": once["key"]})  # fmt: skip
    checks["a write that was sent before"] = again.json() == once["answer"]
    page = Client().get(f"/api/projects/{rows['slug']}/items", {"limit": 1, "cursor": once["cursor"]}, headers=owner)
    checks["a cursor"] = [one["id"] for one in page.json()["items"]] == [
        one["id"] for one in once["following"]["items"]
    ]
    for stage, held in world["sample"]["held"].items():
        client = Client()
        client.force_login(User.objects.get(username=held["person"]))
        answer = client.get(f"/projects/{world['sample']['slug']}/work/{stage}/{held['token']}/")
        checks[f"lease: {stage}"] = answer.status_code == 200
        if stage == "edit":
            checks["draft"] = "a man irons a shirt." in answer.content.decode()
    public = Client().get(f"/r/{world['sample']['public_key']}/")
    checks["public page"] = public.status_code == 200 and "shapes 1" in public.content.decode()
    yield from (name for name, holds in checks.items() if not holds)


def _by_second_factor(person: dict[str, Any], password: str) -> bool:
    """The code of the app, and instead of it a recovery code."""
    for code in (pyotp.TOTP(person["second_factor"]).now(), person["recovery_codes"][0]):
        client = Client()
        with transaction.atomic():
            client.post("/sign-in/", {"username": person["username"], "password": password})
            client.post("/sign-in/code/", {"code": code})
            holds = "_auth_user_id" in client.session
            transaction.set_rollback(True)
        if not holds:
            return False
    return True


def audit(kept: dict[str, Any]) -> Found:
    """Every kind of target has its table; an item's history tells as much as before."""
    kinds = AuditEvent.objects.exclude(target_type="").values_list("target_type", flat=True).distinct()
    known = {model._meta.label_lower for model in apps.get_models()}
    yield from (f"no table: {kind}" for kind in set(kinds) - known)
    actions = {action for action, _kind in kept["said"]["audit"]}
    yield from actions - set(AuditEvent.objects.values_list("action", flat=True))
    project = Project.objects.get(slug=kept["world"]["sample"]["slug"])
    for pk, told in kept["said"]["histories"].items():
        item = Item.objects.get(pk=pk)
        history = history_of(project, item, Candidate.objects.filter(group__item=item))
        if len(history) != told or not all(str(one.words) for one in history):
            yield f"item {pk}: {len(history)} lines, there were {told}"


def values(kept: dict[str, Any]) -> Found:
    """Every value that a row holds is one that its column has today, and every file of a row is found."""
    there = set(connection.introspection.table_names())
    for model in apps.get_models():
        if model._meta.db_table not in there:
            continue
        for field in model._meta.local_concrete_fields:
            if field.choices:
                allowed = {value for value, _label in field.flatchoices} | {"", None}
                stored = set(model._base_manager.values_list(field.attname, flat=True).distinct())
                yield from (f"{field}: {value!r}" for value in stored - allowed)
