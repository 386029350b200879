"""Compare pages, the API and rows of an upgraded installation with the record. Runs inside of it."""

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

from evaluation.items.history import history_of
from foilworks.core.corpus.models import Item
from foilworks.core.projects.models import AuditEvent, Project, User
from generation.models import Candidate
from tests.foilworks.upgrade import removed

Differences = Iterator[Any]
# An address may have moved for good; the new one must answer as before.
MOVED = frozenset({301, 308})
# Its answer depends on the processes that run beside it.
DEPENDS_ON_PROCESSES = frozenset({"readyz"})


def addresses(record: dict[str, Any]) -> Differences:
    """Request every recorded address as every person, with both methods."""
    for row in record["answers"]["addresses"]:
        for person in row["statuses"]:
            yield from _page(record, row, person)


def pages(record: dict[str, Any]) -> Differences:
    """GET every recorded address once, as somebody who may read it."""
    for row in record["answers"]["addresses"]:
        if row["method"] == "GET":
            yield from _page(record, row, _allowed_person(row))


def _allowed_person(row: dict[str, Any]) -> str:
    return min(row["statuses"], key=row["statuses"].__getitem__)


def _page(record: dict[str, Any], row: dict[str, Any], person: str) -> Differences:
    if row["name"] in DEPENDS_ON_PROCESSES:
        return
    client = _signed_in(record, person)
    status = 404 if row["name"] in removed.ADDRESSES else row["statuses"][person]
    reply = _send(client, row["method"], row["path"], data=row["data"])
    if reply.status_code in MOVED and status not in MOVED:
        reply = _send(client, row["method"], reply.headers["Location"], data=row["data"])
    if reply.status_code != status:
        yield {**_names(row), "person": person, "before": status, "now": reply.status_code}


def _signed_in(record: dict[str, Any], person: str) -> Client:
    """Return a client with the session that the old version opened."""
    client = Client()
    if person != "anonymous":
        client.cookies[settings.SESSION_COOKIE_NAME] = record["installation"]["people"][person]["session"]
    return client


def _send(client: Client, method: str, path: str, **request: Any) -> HttpResponse:
    """Return the reply, read to its end; what it wrote is rolled back."""
    with transaction.atomic():
        reply = getattr(client, method.lower())(path, **request)
        reply.whole_body = b"".join(reply.streaming_content) if reply.streaming else reply.content
        transaction.set_rollback(True)
    return reply


def _names(row: dict[str, Any]) -> dict[str, str]:
    return {name: row[name] for name in ("name", "method", "path")}


def operations(record: dict[str, Any]) -> Differences:
    """Send every operation of the API as every person; replies have at least the names that they had."""
    for row in record["answers"]["operations"]:
        for person in row["statuses"]:
            yield from _operation(record, row, person)


def few_operations(record: dict[str, Any]) -> Differences:
    """Send each operation once, as somebody who may."""
    for row in record["answers"]["operations"]:
        yield from _operation(record, row, _allowed_person(row))


def _operation(record: dict[str, Any], row: dict[str, Any], person: str) -> Differences:
    headers, status = {}, row["statuses"][person]
    if person != "anonymous":
        headers["Authorization"] = f"Bearer {record['installation']['people'][person]['token']}"
    reply = _send(Client(), row["method"], row["path"], headers=headers, **_body(row))
    if reply.status_code != status:
        yield {**_names(row), "person": person, "before": status, "now": reply.status_code}
    elif status < 300 and row["shape"] is not None and reply.whole_body:
        lost = _lost_names(row["shape"], json.loads(reply.whole_body), row["name"])
        yield from ({**_names(row), "lost": name} for name in lost)


def _body(row: dict[str, Any]) -> dict[str, Any]:
    if row["files"]:
        files = {name: SimpleUploadedFile(file, text.encode()) for name, (file, text) in row["files"].items()}
        return {"data": {**row["body"], **files}}
    if row["method"] in {"POST", "PATCH"}:
        return {"data": json.dumps(row["body"] or {}), "content_type": "application/json"}
    return {}


def _lost_names(shape: Any, value: Any, path: str) -> Iterator[str]:
    """Yield names of the recorded reply that this one lacks."""
    if isinstance(shape, dict) and isinstance(value, dict):
        for name, child in shape.items():
            if name not in value:
                yield f"{path}.{name}"
            else:
                yield from _lost_names(child, value[name], f"{path}.{name}")
    elif isinstance(shape, list) and isinstance(value, list) and shape and value:
        yield from _lost_names(shape[0], value[0], f"{path}[]")


def entrances(record: dict[str, Any]) -> Differences:
    """Sign in by each way that was open: password, second factor, tokens, links, a repeated write, a cursor."""
    installation = record["installation"]
    people, project, checks = installation["people"], installation["rows"], {}
    credentials = {"username": people["reviewer"]["username"], "password": installation["password"]}
    reply = _send(Client(), "POST", "/sign-in/", data=credentials)
    checks["password"] = reply.status_code == 302 and "code" not in reply.headers["Location"]
    checks["second factor"] = _by_second_factor(people["stranger"], installation["password"])
    for scope, secret in people["annotator"]["tokens"].items():
        reply = _send(Client(), "GET", "/api/me", headers={"Authorization": f"Bearer {secret}"})
        checks[f"token: {scope}"] = reply.status_code == 200
    for name in ("invitation_token", "invitation_by_action"):
        checks[name] = _send(Client(), "GET", f"/join/{project['values'][name]}/").status_code == 200
    checks.update(_repeated_write(installation))
    checks.update(_sample_project(installation["sample"]))
    yield from (name for name, holds in checks.items() if not holds)


def _repeated_write(installation: dict[str, Any]) -> dict[str, bool]:
    headers = {"Authorization": f"Bearer {installation['people']['researcher']['token']}"}
    write, slug = installation["repeated_write"], installation["rows"]["slug"]
    keyed = {**headers, "Idempotency-Key": write["key"]}
    reply = Client().post(write["path"], json.dumps(write["body"]), "application/json", headers=keyed)
    items = {"limit": 1, "cursor": write["cursor"]}
    page = Client().get(f"/api/projects/{slug}/items", items, headers=headers).json()
    ids, recorded_ids = ([item["id"] for item in listed["items"]] for listed in (page, write["next_page"]))
    return {"a repeated write": reply.json() == write["reply"], "a cursor": ids == recorded_ids}


def _sample_project(sample: dict[str, Any]) -> dict[str, bool]:
    checks = {}
    for stage, lease in sample["leases"].items():
        client = Client()
        client.force_login(User.objects.get(username=lease["person"]))
        reply = client.get(f"/projects/{sample['slug']}/work/{stage}/{lease['token']}/")
        checks[f"lease: {stage}"] = reply.status_code == 200
        if stage == "edit":
            checks["draft"] = "a man irons a shirt." in reply.content.decode()
    reply = Client().get(f"/r/{sample['public_key']}/")
    checks["public page"] = reply.status_code == 200 and "shapes 1" in reply.content.decode()
    return checks


def _by_second_factor(person: dict[str, Any], password: str) -> bool:
    """Return whether the code of the app signs in, and also a recovery code."""
    for code in (pyotp.TOTP(person["second_factor"]).now(), person["recovery_codes"][0]):
        client = Client()
        with transaction.atomic():
            client.post("/sign-in/", {"username": person["username"], "password": password})
            client.post("/sign-in/code/", {"code": code})
            is_signed_in = "_auth_user_id" in client.session
            transaction.set_rollback(True)
        if not is_signed_in:
            return False
    return True


def audit(record: dict[str, Any]) -> Differences:
    """Every kind of target has its table; an item's history has as many lines as before."""
    kinds = AuditEvent.objects.exclude(target_type="").values_list("target_type", flat=True).distinct()
    labels = {model._meta.label_lower for model in apps.get_models()}
    yield from (f"no table: {kind}" for kind in set(kinds) - labels - removed.MODELS)
    actions = {action for action, _kind in record["answers"]["audit"]}
    yield from actions - set(AuditEvent.objects.values_list("action", flat=True))
    project = Project.objects.get(slug=record["installation"]["sample"]["slug"])
    for pk, n_lines in record["answers"]["histories"].items():
        item = Item.objects.get(pk=pk)
        history = history_of(project, item, Candidate.objects.filter(group__item=item))
        if len(history) != n_lines or not all(str(line.words) for line in history):
            yield f"item {pk}: {len(history)} lines, before {n_lines}"


def values(record: dict[str, Any]) -> Differences:
    """Every value in a row is one that its column allows today."""
    tables = set(connection.introspection.table_names())
    for model in apps.get_models():
        if model._meta.db_table not in tables:
            continue
        for field in model._meta.local_concrete_fields:
            if field.choices:
                allowed = {value for value, _label in field.flatchoices} | {"", None}
                stored = set(model._base_manager.values_list(field.attname, flat=True).distinct())
                yield from (f"{field}: {value!r}" for value in stored - allowed)
