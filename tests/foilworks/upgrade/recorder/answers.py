"""Write what this version answers: runs in the checkout of cc592f35, after install.py and the dump of its database.

`python answers.py OUT` reads OUT/installation.json and writes OUT/answers.json: the reply of every address and API
operation for every person, the number of rows per table, the violations, and how every queued job ends. The jobs run
here.
"""

import json
import logging
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
from shared import run_quietly

from corpus.models import Item
from evaluation.items.history import history_of
from evaluation.reports.reports import project_report
from foilworks.invariants.registry import violations
from generation.models import Candidate
from jobs.models import Job, JobState
from jobs.queue import retry
from projects.models import AuditEvent, Project, User
from tests import test_access_matrix as pages
from tests import test_api_access_matrix as api

METHODS = ("GET", "POST")


def main(out: Path) -> None:
    torch.set_num_threads(1)
    settings.API_RATE_LIMIT_PER_MINUTE = 0
    # Nine of ten requests are refused, as they should be.
    logging.disable(logging.ERROR)
    installation = json.loads((out / "installation.json").read_text(encoding="utf-8"))
    rows = installation["rows"]
    people = {name: User.objects.get(username=username) for name, username in rows["people"].items()}
    world = pages.World(rows["slug"], {"anonymous": None, **people}, rows["values"])
    answers: dict[str, Any] = {
        "rows": dict(row_counts()),
        "violations": [row["problem"] + ": " + row["row"] for row in violations()],
        "audit": sorted(set(AuditEvent.objects.values_list("action", "target_type"))),
        "addresses": list(replies_of_pages(world)),
        "operations": list(replies_of_operations(world, installation)),
        **results_of_the_sample(installation["sample"]),
    }
    recorded = [pk for project in installation["jobs"].values() for pk in shards_first(project["jobs"])]
    # The end of the shards changes the state of their parent.
    states_before = {str(pk): state for pk, state in Job.objects.values_list("pk", "state")}
    answers["jobs"] = {pk: {"state_before": states_before[pk], **end_of(pk)} for pk in recorded}
    (out / "answers.json").write_text(json.dumps(answers, sort_keys=True), encoding="utf-8")
    states = Counter(job["state"] for job in answers["jobs"].values())
    print(f"{len(answers['violations'])} violations; jobs: {dict(states)}", file=sys.stderr)


def row_counts() -> Iterator[tuple[str, int]]:
    """Yield the number of rows per table; some packages have models without a table."""
    tables = set(connection.introspection.table_names())
    models = [model for model in apps.get_models(include_auto_created=True) if model._meta.db_table in tables]
    for model in sorted(models, key=lambda model: model._meta.db_table):
        yield model._meta.db_table, model._base_manager.count()


def results_of_the_sample(sample: dict[str, Any]) -> dict[str, Any]:
    project = Project.objects.get(slug=sample["slug"])
    export = Path(sample["numbers"]["export"])
    manifest = json.loads((export / "manifest.json").read_text(encoding="utf-8"))
    histories = {
        item.pk: len(history_of(project, item, Candidate.objects.filter(group__item=item)))
        for item in Item.objects.filter(subtest__project=project).order_by("pk")
    }
    report = project_report(project, "validation")
    return {"content_hash": manifest["content_hash"], "validation": report, "histories": histories}


def replies_of_pages(world: Any) -> Iterator[dict[str, Any]]:
    for name, rule in pages.RULES.items():
        path = pages.address(name, world)
        for method in METHODS:
            statuses = {
                person: pages.ask(path, method, world.people[person], rule.data).status for person in pages.EVERYBODY
            }
            yield {"name": name, "method": method, "path": path, "data": rule.data, "statuses": statuses}


def replies_of_operations(world: Any, installation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    people = installation["people"]
    headers = {name: {"Authorization": f"Bearer {person['token']}"} for name, person in people.items()}
    for name, rule in api.RULES.items():
        method, template = api.OPERATIONS[name]
        row: dict[str, Any] = {"name": name, "method": method, "template": template, "path": api.address(name, world)}
        row["body"], row["files"] = body_and_files(rule, world)
        row["statuses"], row["shape"] = {}, None
        for person in api.EVERYBODY:
            reply = api.ask(name, world, headers.get(person, {}))
            row["statuses"][person] = reply.status_code
            is_json = reply.headers.get("Content-Type", "").startswith("application/json")
            if reply.status_code < 300 and is_json and not reply.streaming and reply.content:
                row["shape"] = shape_of(reply.json())
        yield row


def body_and_files(rule: Any, world: Any) -> tuple[dict[str, Any] | None, dict[str, list[str]]]:
    """Return the JSON or fields that the rule sends, and its files as name and text."""
    data = dict(rule.data or {})
    if data.get("subtest") == "subtest":
        data["subtest"] = world.values["subtest"]
    files = {key: [value[0], value[1].decode()] for key, value in data.items() if isinstance(value, tuple)}
    fields = {key: value for key, value in data.items() if not isinstance(value, tuple)}
    return (None if rule.data is None else fields), files


def shape_of(value: Any) -> Any:
    """Return the names in a reply without their values; of a list its first entry."""
    if isinstance(value, dict):
        return {key: shape_of(entry) for key, entry in value.items()}
    return [shape_of(value[0])] if isinstance(value, list) and value else None


def shards_first(jobs: list[str]) -> list[str]:
    """Sort shards before the jobs that collect them."""
    shards = {str(pk) for pk in Job.objects.exclude(parent=None).values_list("pk", flat=True)}
    return sorted(jobs, key=lambda pk: pk not in shards)


def end_of(pk: str) -> dict[str, Any]:
    """Run the job as the queue and people do: an abandoned one after its lease, a failed one by retry."""
    job = Job.objects.get(pk=pk)
    row = {"dotted": job.dotted, "parent": str(job.parent_id or "")}
    if job.state == JobState.RUNNING:
        Job.objects.filter(pk=pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    if job.state == JobState.FAILED:
        retry(job)
    job.refresh_from_db()
    if not job.is_over:
        run_quietly(job)
    return {**row, "state": job.state, "error": job.error}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
