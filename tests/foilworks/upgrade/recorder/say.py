"""Writes what this version says of the installation: runs in the checkout of 4fafc4b, after make.py and its dump.

`python say.py OUT` reads OUT/world.json and writes OUT/said.json: the answer of every address and API operation for
every person, how many rows each table holds, what the invariants find, how every queued job ends. The jobs run here.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import django

django.setup()

import torch
from django.apps import apps
from django.conf import settings
from django.db import connection
from django.utils import timezone
from lent import run_quietly

from corpus.models import Item
from evaluation.items.history import history_of
from evaluation.reporting.reports import project_report
from foilworks.invariants.table import violations
from generation.models import Candidate
from jobs.models import Job, JobState
from jobs.queue import retry
from projects.models import AuditEvent, Project, User
from tests import test_access_matrix as pages
from tests import test_api_access_matrix as api

METHODS = ("GET", "POST")


def main(out: Path) -> None:
    torch.set_num_threads(1)
    settings.API_REQUESTS_A_MINUTE = 0
    kept = json.loads((out / "world.json").read_text(encoding="utf-8"))
    rows = kept["rows"]
    people = {name: User.objects.get(username=username) for name, username in rows["people"].items()}
    world = pages.World(rows["slug"], {"anonymous": None, **people}, rows["values"])
    said: dict[str, Any] = {
        "rows": dict(counted()),
        "violations": Counter(one["row"] for one in violations()),
        "audit": sorted(set(AuditEvent.objects.values_list("action", "target_type"))),
        "addresses": list(answers_of_pages(world)),
        "operations": list(answers_of_operations(world, kept)),
        **of_the_sample(kept["sample"]),
    }
    said["jobs"] = {pk: ended(pk) for state in kept["jobs"] for pk in in_order(kept["jobs"][state]["jobs"])}
    (out / "said.json").write_text(json.dumps(said, sort_keys=True), encoding="utf-8")


def counted() -> Iterator[tuple[str, int]]:
    """Of what has a table: some packages bring models without one."""
    there = set(connection.introspection.table_names())
    models = [one for one in apps.get_models(include_auto_created=True) if one._meta.db_table in there]
    for model in sorted(models, key=lambda one: one._meta.db_table):
        yield model._meta.db_table, model._base_manager.count()


def of_the_sample(sample: dict[str, Any]) -> dict[str, Any]:
    project = Project.objects.get(slug=sample["slug"])
    export = Path(sample["numbers"]["export"])
    manifest = json.loads((export / "manifest.json").read_text(encoding="utf-8"))
    histories = {}
    for item in Item.objects.filter(subtest__project=project).order_by("pk"):
        found = Candidate.objects.filter(group__item=item)
        histories[item.pk] = len(history_of(project, item, found))
    report = project_report(project, "validation")
    return {"content_hash": manifest["content_hash"], "validation": report, "histories": histories}


def answers_of_pages(world: Any) -> Iterator[dict[str, Any]]:
    for name, rule in pages.RULES.items():
        path = pages.address(name, world)
        for method in METHODS:
            asked = {person: pages.ask(path, method, world.people[person], rule.data) for person in pages.EVERYBODY}
            answers = {person: status for person, (status, _place) in asked.items()}
            yield {"name": name, "method": method, "path": path, "data": rule.data, "answers": answers}


def answers_of_operations(world: Any, kept: dict[str, Any]) -> Iterator[dict[str, Any]]:
    headers = {name: {"Authorization": f"Bearer {one['token']}"} for name, one in kept["people"].items()}
    for name, rule in api.RULES.items():
        method, template = api.OPERATIONS[name]
        row: dict[str, Any] = {"name": name, "method": method, "template": template, "path": api.address(name, world)}
        row["body"], row["files"] = sent(rule, world)
        row["answers"], row["shape"] = {}, None
        for person in api.EVERYBODY:
            answer = api.ask(name, world, headers.get(person, {}))
            row["answers"][person] = answer.status_code
            is_json = answer.headers.get("Content-Type", "").startswith("application/json")
            if answer.status_code < 300 and is_json and not answer.streaming and answer.content:
                row["shape"] = shape_of(answer.json())
        yield row


def sent(rule: Any, world: Any) -> tuple[dict[str, Any] | None, dict[str, list[str]]]:
    """(JSON or fields, files as name and text) of what the rule sends."""
    data = dict(rule.data or {})
    if data.get("subtest") == "subtest":
        data["subtest"] = world.values["subtest"]
    files = {key: [value[0], value[1].decode()] for key, value in data.items() if isinstance(value, tuple)}
    fields = {key: value for key, value in data.items() if not isinstance(value, tuple)}
    return (None if rule.data is None else fields), files


def shape_of(value: Any) -> Any:
    """The names in an answer, without its values; of a list its first entry."""
    if isinstance(value, dict):
        return {key: shape_of(one) for key, one in value.items()}
    return [shape_of(value[0])] if isinstance(value, list) and value else None


def in_order(jobs: list[str]) -> list[str]:
    """Shards before the job that collects them."""
    shards = {str(pk) for pk in Job.objects.exclude(parent=None).values_list("pk", flat=True)}
    return sorted(jobs, key=lambda pk: pk not in shards)


def ended(pk: str) -> dict[str, Any]:
    """How the job ends, taken up as the queue and people do it: a lost one after its lease, a failed one by retry."""
    job = Job.objects.get(pk=pk)
    found = {"dotted": job.dotted, "was": job.state, "parent": str(job.parent_id or "")}
    if job.state == JobState.RUNNING:
        Job.objects.filter(pk=pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    if job.state == JobState.FAILED:
        retry(job)
    job.refresh_from_db()
    if not job.is_over:
        run_quietly(job)
    job.refresh_from_db()
    return {**found, "state": job.state, "error": job.error}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
