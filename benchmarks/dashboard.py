"""The owner's dashboard at size: queries and server time of its page, and what the count behind it takes.

Fills a database of its own with a project of --items items (100,000) and three votes each, in bulk; opens the page as
its owner through Django's test client, once to warm up and --repeat times measured, and prints the numbers as JSON.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ["DJANGO_SETTINGS_MODULE"] = "foilworks.settings"
BATCH = 5000
SUBTESTS = 11
VALIDATORS = 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="foilworks-dashboard-") as home:
        os.environ["FOILWORKS_HOME"] = home
        os.environ.pop("DATABASE_URL", None)
        import django

        django.setup()
        print(json.dumps(measured(options.items, options.repeat), indent=2))


def measured(n_items: int, repeat: int) -> dict[str, object]:
    from django.core.management import call_command
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext
    from django.urls import reverse

    from evaluation.cached_results.models import CachedResult
    from evaluation.dashboard.stored_count import keep

    call_command("migrate", verbosity=0)
    began = time.perf_counter()
    project, owner = fill(n_items)
    filled, began = time.perf_counter() - began, time.perf_counter()
    keep(project)
    count_s = time.perf_counter() - began
    client = Client(HTTP_HOST="localhost")
    client.force_login(owner)
    url = reverse("dashboard:dashboard", args=[project.slug])
    with CaptureQueriesContext(connection) as queries:
        response = client.get(url)
    n_queries = len(queries)
    assert response.status_code == 200, response.status_code
    assert b"funnel-title" in response.content, "the count is not shown"
    times = []
    for _ in range(repeat):
        began = time.perf_counter()
        client.get(url)
        times.append(1000 * (time.perf_counter() - began))
    return {
        "items": n_items,
        "votes": 3 * n_items,
        "database": connection.vendor,
        "cores": os.cpu_count(),
        "queries": n_queries,
        "page_ms_median": round(statistics.median(times), 1),
        "page_ms_most": round(max(times), 1),
        "count_s": round(count_s, 1),
        "fill_s": round(filled, 1),
        "kept_bytes": len(json.dumps(CachedResult.objects.get(project=project, kind="dashboard").data)),
    }


def fill(n_items: int) -> tuple[object, object]:
    """A project half-way through its validation: every item with its candidate, edit, review, places and votes."""
    from django.utils import timezone

    from annotation.models import PayPolicy, PayRate
    from corpus.models import Subtest
    from generation.models import GenerationRun
    from projects.models import Membership, Project, Role, User

    project = Project.objects.create(slug="large", name="Large")
    owner = User.objects.create(username="owner")
    Membership.objects.create(project=project, person=owner, role=Role.RESEARCHER)
    people = User.objects.bulk_create(User(username=f"validator{n}") for n in range(VALIDATORS))
    PayPolicy.objects.create(project=project, floor=12)
    PayRate.objects.create(project=project, stage="validation", unit="piece", amount="0.05")
    subtests = [Subtest.objects.create(project=project, name=f"subtest {n}") for n in range(SUBTESTS)]
    runs = [
        GenerationRun.objects.create(project=project, subtest=one, method="fake", method_version="1")
        for one in subtests
    ]
    now = timezone.now()
    for start in range(0, n_items, BATCH):
        batch(project, subtests, runs, people, range(start, min(start + BATCH, n_items)), now)
    return project, owner


def batch(project, subtests, runs, people, numbers, now) -> None:
    from django.db import transaction

    with transaction.atomic():
        at = [now - timedelta(minutes=20160 * (n % 9973) / 9973) for n in numbers]
        pairs = items_with_foils(project, subtests, numbers, now)
        edited_and_reviewed(runs, people, numbers, pairs, at)
        validated(project, people, numbers, pairs, at)


def items_with_foils(project, subtests, numbers, now) -> list[tuple[object, object]]:
    from corpus.models import Caption, Foil, Item, Video

    nouns = ("man", "woman", "dog", "child", "robot", "driver", "cook", "player")
    verbs = ("folds", "opens", "lifts", "drops", "throws", "catches", "ties", "paints")
    videos = Video.objects.bulk_create(
        Video(project=project, key=f"clip {n}", media_state="ready", duration=5.0) for n in numbers
    )
    captions = Caption.objects.bulk_create(
        Caption(video=video, key=video.key, text_sha256=str(n), text=f"a {nouns[n % 8]} {verbs[n % 7]} {n % 997}.")
        for n, video in zip(numbers, videos, strict=True)
    )
    items = Item.objects.bulk_create(
        Item(
            subtest=subtests[n % SUBTESTS],
            video=video,
            caption=caption,
            key=str(n),
            decided_at=now,
            state=("valid", "valid", "valid", "invalid", "split")[n % 5],
        )
        for n, video, caption in zip(numbers, videos, captions, strict=True)
    )
    foils = Foil.objects.bulk_create(
        Foil(
            item=item, position=0, text_sha256=str(n), text=item.caption.text.replace(verbs[n % 7], verbs[(n + 3) % 8])
        )
        for n, item in zip(numbers, items, strict=True)
    )
    return list(zip(items, foils, strict=True))


def edited_and_reviewed(runs, people, numbers, pairs, at) -> None:
    from annotation.models import Edit, Review
    from generation.models import Candidate, CandidateGroup

    groups = CandidateGroup.objects.bulk_create(
        CandidateGroup(run=runs[n % SUBTESTS], caption=item.caption, tasked=True, item=item)
        for n, (item, _) in zip(numbers, pairs, strict=True)
    )
    candidates = Candidate.objects.bulk_create(
        Candidate(
            group=group,
            text=foil.text,
            text_sha256=foil.text_sha256,
            method="fake",
            method_version="1",
            state="accepted",
            foil=foil,
            span_start=0,
            span_end=1,
            edits=[],
        )
        for group, (_, foil) in zip(groups, pairs, strict=True)
    )
    edits = Edit.objects.bulk_create(
        Edit(group=group, person=people[n % 20], texts=[], idempotency_key=f"e{n}", seconds_spent=40, created_at=when)
        for n, group, when in zip(numbers, groups, at, strict=True)
    )
    submitted = Edit.candidates.through
    submitted.objects.bulk_create(
        submitted(edit_id=edit.pk, candidate_id=candidate.pk) for edit, candidate in zip(edits, candidates, strict=True)
    )
    Review.objects.bulk_create(
        Review(
            candidate=candidate,
            person=people[20 + n % 10],
            decision="accept",
            idempotency_key=f"r{n}",
            seconds_spent=15,
            created_at=when,
        )
        for n, candidate, when in zip(numbers, candidates, at, strict=True)
    )


def validated(project, people, numbers, pairs, at) -> None:
    from annotation.models import Slot, Task, Vote
    from projects.models import AuditEvent

    tasks = Task.objects.bulk_create(
        Task(project=project, stage="validation", video=item.video, item=item, foil=foil, overlap=3, state="done")
        for item, foil in pairs
    )
    slots = Slot.objects.bulk_create(
        Slot(
            task=task,
            project=project,
            stage="validation",
            video=task.video,
            item=task.item,
            index=place,
            state="done",
            person=people[(n + 7 * place) % VALIDATORS],
        )
        for n, task in zip(numbers, tasks, strict=True)
        for place in range(3)
    )
    choices = ("caption", "caption", "foil", "neither", "both", "caption")
    Vote.objects.bulk_create(
        Vote(
            item=slot.item,
            foil=slot.task.foil,
            slot=slot,
            person=slot.person,
            caption_first=number % 2 == 0,
            choice=choices[(number * 2654435761 >> 8) % 6],
            idempotency_key=f"v{slot.pk}",
            seconds_spent=9.5,
            watch={"seconds": 6.0, "loops": 1},
            created_at=at[number // 3],
        )
        for number, slot in enumerate(slots)
    )
    AuditEvent.objects.bulk_create(
        AuditEvent(project=project, actor=slot.person, action="vote", target_type="corpus.item", target_id=slot.item_id)
        for slot in slots
    )


if __name__ == "__main__":
    main()
