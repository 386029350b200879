"""Measure the first view of every page of a home, with nothing cached and no module of a page imported yet.

    .venv/bin/python benchmarks/first_views.py [--home /path/of/a/home] [--project demo] [--slowest 20] [--list]

The home (default: FOILWORKS_HOME, e.g. that of `foilworks demo`) is copied first. The pages are those of the table of
addresses in tests/test_access_matrix.py that answer GET; each is requested by somebody who may see it, in a process of
its own that has only the modules that a web server imports at its start. Caches are empty, stored results are deleted.
Addresses about one thing take the first row of their table; those without a row are listed as not visited. Printed:
processor seconds (the view's own, whatever else the machine does), seconds by the clock and queries of the slowest
pages, whether a page continues with a job (progress), and the number of pages that take a second or more without one.
`--list` prints one JSON line per page; `--only` visits the addresses that match a regular expression.
"""

import argparse
import json
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# Before the folder of the script: some benchmarks have the names of packages.
sys.path.insert(0, str(ROOT))
LIMIT_SECONDS = 1.0
# Attributes of a page that continues by itself.
PROGRESS = (b'hx-trigger="every', b'hx-trigger="load')
# What is copied of a home: no backups, no archives.
LEFT_BEHIND = ("backups", "exports", "run", "redis", "logs")

PREFERRED = ("researcher", "reviewer", "validator", "annotator")
TOKENS = {"edit_token", "review_token", "validation_token", "baseline_token", "objects_token"}
SEVERAL = {"report", "analysis"}
# Arguments of addresses: the table that they are a row of, and how its rows name the project.
ROWS = {
    "attempt": ("annotation.Attempt", "project"),
    "bias_run": ("evaluation.BiasRun", "project"),
    "candidate": ("generation.Candidate", "group__run__subtest__project"),
    "caption_run": ("generation.CaptionRun", "project"),
    "descriptions": ("evaluation.Descriptions", "project"),
    "disputed": ("corpus.Item", "subtest__project"),
    "doubted": ("corpus.Caption", "video__project"),
    "frame": ("annotation.CheckedFrame", "check_of__project"),
    "generation_run": ("generation.GenerationRun", "subtest__project"),
    "import": ("evaluation.Import", "project"),
    "item": ("corpus.Item", "subtest__project"),
    "member": ("projects.User", "memberships__project"),
    "object_check": ("annotation.ObjectCheck", "project"),
    "release": ("corpus.Release", "project"),
    "scoring_run": ("evaluation.Run", "release__project"),
    "selection": ("generation.Selection", "project"),
    "subtest": ("corpus.Subtest", "project"),
    "teacher_training": ("evaluation.TeacherTraining", "project"),
    "tuning": ("generation.Tuning", "project"),
    "video": ("corpus.Video", "project"),
}


@dataclass(frozen=True)
class Page:
    """One address, and who may see it; `person` "" is somebody who is not signed in."""

    name: str
    address: str
    person: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, default=os.environ.get("FOILWORKS_HOME"))
    parser.add_argument("--project", default="demo")
    parser.add_argument("--slowest", type=int, default=20)
    parser.add_argument("--only", default="", help="a regular expression of the addresses to visit")
    parser.add_argument("--list", action="store_true", help="one JSON line per page")
    options = parser.parse_args()
    if not options.home:
        parser.error("name a home with --home or FOILWORKS_HOME")
    with tempfile.TemporaryDirectory(prefix="foilworks-views-") as folder:
        copy = Path(folder) / "home"
        shutil.copytree(options.home, copy, ignore=shutil.ignore_patterns(*LEFT_BEHIND))
        os.environ |= {"FOILWORKS_HOME": str(copy), "DJANGO_SETTINGS_MODULE": "foilworks.site.settings"}
        start()
        found, absent = alone(prepared, options.project)
        rows = []
        for page in (page for page in found if re.search(options.only, page.address)):
            rows.append(alone(measured, page))
            if options.list:
                print(json.dumps(rows[-1]), flush=True)
    report(rows, absent, options.slowest)


def report(rows: list[dict[str, Any]], absent: list[str], slowest: int) -> None:
    """Print the slowest pages, and what was not visited."""
    rows = sorted(rows, key=lambda row: -row["cpu"])
    for row in rows[:slowest]:
        told = "progress" if row["progress"] else ""
        times = f"{row['cpu']:6.2f} s (clock {row['seconds']:6.2f} s)"
        print(f"{times} {row['queries']:5} queries  {row['status']}  {row['address']}  {told}")
    late = [row for row in rows if row["cpu"] >= LIMIT_SECONDS and not row["progress"]]
    print(f"{len(rows)} addresses; {len(late)} take {LIMIT_SECONDS:g} s or more without progress")
    failed = [row["address"] for row in rows if row["status"] >= 500]
    print(f"failed: {', '.join(failed) or 'none'}")
    print(f"not visited, as the project has no such thing: {', '.join(absent) or 'none'}")


def alone(act: Callable[..., Any], *args: Any) -> Any:
    """Return what `act` returns, in a process of its own."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=_tell, args=(there, act, args))
    process.start()
    answer = here.recv()
    process.join()
    return answer


def _tell(there: Any, act: Callable[..., Any], args: tuple[Any, ...]) -> None:
    there.send(act(*args))


def prepared(slug: str) -> tuple[list[Page], list[str]]:
    """Return the pages, and the names of those whose thing the project does not have."""
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from evaluation.cached_results.models import CachedResult
    from foilworks.core.projects.models import Project
    from tests.test_access_matrix import RULES

    CachedResult.objects.all().delete()
    project = Project.objects.get(slug=slug)
    found, absent = [], []
    things = Things(project)
    for name, rule in RULES.items():
        if rule.get >= 300 and rule.get not in {404, 409}:
            continue
        pages = list(things.pages(name, rule))
        found += pages
        if not pages:
            absent.append(name)
    return found, absent


def start() -> None:
    """Import what a web server imports before its first request."""
    import django

    django.setup()
    from django.core.handlers.wsgi import WSGIHandler
    from django.urls import get_resolver

    WSGIHandler()
    assert get_resolver().url_patterns


def measured(page: Page, *, stored: bool = False) -> dict[str, Any]:
    """Request the page once, with empty caches, as the first request of a new process. `stored`: with the results that
    are stored already.
    """
    from django.conf import settings
    from django.db import connection
    from django.test import Client

    from evaluation.cached_results.models import CachedResult
    from foilworks.core.projects.models import User

    settings.ALLOWED_HOSTS = ["*"]
    if not stored:
        CachedResult.objects.all().delete()
    client = Client(raise_request_exception=False)
    if page.person:
        client.force_login(User.objects.get(username=page.person))
    asked: list[str] = []

    def counted(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        asked.append(sql)
        return execute(sql, *rest)

    # Not captured: with a debugging cursor, no statement is prepared on the server.
    with connection.execute_wrapper(counted):
        began, used = time.perf_counter(), time.process_time()
        answer = client.get(page.address)
    # A stream is counted, not stored: it may be larger than the memory.
    size = sum(map(len, answer.streaming_content)) if answer.streaming else len(answer.content)
    seconds, used = time.perf_counter() - began, time.process_time() - used
    progress = not answer.streaming and any(mark in answer.content for mark in PROGRESS)
    return {
        "name": page.name,
        "address": page.address,
        "person": page.person,
        "status": answer.status_code,
        "seconds": round(seconds, 3),
        "cpu": round(used, 3),
        "queries": len(asked),
        "bytes": size,
        "html": answer.headers.get("Content-Type", "").startswith("text/html"),
        "progress": progress,
    }


class Things:
    """What the addresses of a project name, made where it has no such thing, and the people who may see it."""

    def __init__(self, project: Any) -> None:
        from foilworks.core.projects.models import Role, User
        from tests.test_access_matrix import WORDS

        self.project = project
        self.people = {}
        for role in Role.values:
            members = User.objects.filter(is_active=True, memberships__project=project, memberships__role=role)
            # Those of the demo whom visitors sign in as, before its simulated people.
            person = members.filter(username=f"demo-{role}").first() or members.order_by("pk").first()
            self.people[role] = person.username if person else ""
        self.values: dict[str, Any] = {**WORDS, **self._rows()}

    def pages(self, name: str, rule: Any) -> Iterator[Page]:
        """Yield the pages of one name: one for each report, analysis and stage, else one."""
        from django.urls import reverse

        person = next((self.people[role] for role in PREFERRED if role in rule.may and self.people[role]), "")
        if not person and "anonymous" not in rule.may:
            return
        stage = next((arg.removesuffix("_token") for arg in rule.args if arg in TOKENS), "")
        if stage:
            yield from self._work(name, stage)
            return
        several = next((arg for arg in rule.args if arg in SEVERAL), "")
        for value in _several(several, self.values):
            args = [value if arg == several else self.values.get(arg) for arg in rule.args]
            if None not in args:
                yield Page(name, reverse(name, args=[*([self.project.slug] if rule.slug else []), *args]), person)

    def _work(self, name: str, stage: str) -> Iterator[Page]:
        """Take a piece of the stage, and go where the queue leads."""
        from django.test import Client
        from django.urls import reverse

        from foilworks.core.projects.models import User

        for username in filter(None, self.people.values()):
            client = Client(raise_request_exception=False)
            client.force_login(User.objects.get(username=username))
            answer = client.post(reverse("annotation:queue", args=[self.project.slug, stage]))
            if answer.status_code == 302 and f"/work/{stage}/" in answer.headers["Location"]:
                yield Page(name, answer.headers["Location"], username)
                return

    def _rows(self) -> dict[str, Any]:
        """Return {argument: key of a row}: the first that the project has, or one that is made."""
        from django.apps import apps

        found = {}
        for arg, (label, lookup) in ROWS.items():
            found[arg] = apps.get_model(label).objects.filter(**{lookup: self.project}).order_by("pk").first()
        made = {**found, **self._made(found)}
        public, invitation = made.pop("public"), made["invitation"]
        from foilworks.core.projects.invitations import token_of

        keys = {arg: row.pk for arg, row in made.items() if row is not None}
        keys |= {"invitation_token": token_of(invitation), "study_key": made["crowd_study"].key}
        return {**keys, "public_key": public.key} if public else keys

    def _made(self, found: dict[str, Any]) -> dict[str, Any]:
        """Make what no project has from the beginning and a row is enough for."""
        from datetime import timedelta

        from django.utils import timezone

        from foilworks.core.projects.models import CrowdStudy, Delivery, Invitation, Webhook
        from foilworks.site.publishing.models import PublicPage

        now, project = timezone.now(), self.project
        asked = {"salt": "s", "events": ["item.decided"]}
        hook, _new = Webhook.objects.get_or_create(project=project, url="https://example.org/", defaults=asked)
        places = {"stage": "edit", "role": "annotator", "pieces": 1, "places": 1}
        study, _new = CrowdStudy.objects.get_or_create(project=project, name="s", defaults=places)
        release = found["release"]
        return {
            "webhook": hook,
            "delivery": Delivery.objects.create(webhook=hook, event="item.decided", payload={}, next_at=now),
            "crowd_study": study,
            "invitation": Invitation.objects.create(
                project=project, roles=["annotator"], most_uses=None, expires_at=now + timedelta(days=1)
            ),
            "public": release
            and PublicPage.objects.get_or_create(release=release, defaults={"is_open": True, "takes_scores": True})[0],
        }


def _several(arg: str, values: dict[str, Any]) -> list[Any]:
    from evaluation.analyses.registry import REPORTS
    from evaluation.reports.analysis_pages import PAGES

    return list({"report": REPORTS, "analysis": PAGES}.get(arg, [values.get(arg)]))


if __name__ == "__main__":
    main()
