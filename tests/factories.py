"""Rows for tests, made directly: no rule is exercised here, so a test states only what it is about."""

import hashlib
import itertools
from typing import Any

from annotation.models import Slot, Task
from foilworks.core.corpus.models import Caption, Foil, Item, MediaState, Subtest, Video
from foilworks.core.corpus.rules.states import CandidateState, ItemState
from foilworks.core.projects.models import Membership, Project, User
from generation.models import Candidate, CandidateGroup, FilterScore, GenerationRun

_numbers = itertools.count(1)
PASSWORD = "correct horse"


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def make_user(name: str = "", **fields: Any) -> User:
    username = name or f"person{next(_numbers)}"
    return User.objects.create_user(username=username, password=PASSWORD, **fields)


def make_project(**fields: Any) -> Project:
    """A project whose gate lets everything through: tests of the gate set its bar."""
    n = next(_numbers)
    return Project.objects.create(**{"slug": f"project-{n}", "name": f"Project {n}", "blind_bar": 1.0, **fields})


def make_member(project: Project, *roles: str, name: str = "", **fields: Any) -> User:
    person = make_user(name, **fields)
    Membership.objects.bulk_create(Membership(project=project, person=person, role=role) for role in roles)
    return person


def make_subtest(project: Project, **fields: Any) -> Subtest:
    return Subtest.objects.create(project=project, **{"name": f"subtest {next(_numbers)}", **fields})


def make_video(project: Project, **fields: Any) -> Video:
    values = {"key": f"clip-{next(_numbers)}", "media_state": MediaState.READY, "duration": 2.0, "fps": 12.0}
    return Video.objects.create(project=project, **{**values, **fields})


def make_caption(video: Video, text: str = "a man folds a shirt.", **fields: Any) -> Caption:
    values = {"key": f"caption-{next(_numbers)}", "text_sha256": sha(text)}
    return Caption.objects.create(video=video, text=text, **{**values, **fields})


def make_item(
    subtest: Subtest,
    caption: Caption | None = None,
    foils: tuple[str, ...] = ("a man unfolds a shirt.",),
    **fields: Any,
) -> Item:
    caption = caption or make_caption(make_video(subtest.project))
    values = {"key": f"item-{next(_numbers)}", "state": ItemState.IN_VALIDATION}
    item = Item.objects.create(
        project=subtest.project, subtest=subtest, video=caption.video, caption=caption, **{**values, **fields}
    )
    Foil.objects.bulk_create(
        Foil(item=item, position=i, text=text, text_sha256=sha(text)) for i, text in enumerate(foils)
    )
    return item


def make_run(subtest: Subtest, **fields: Any) -> GenerationRun:
    values = {"method": "fake", "method_version": "1", "project": subtest.project}
    return GenerationRun.objects.create(subtest=subtest, **{**values, **fields})


def make_group(run: GenerationRun, caption: Caption | None = None, **fields: Any) -> CandidateGroup:
    caption = caption or make_caption(make_video(run.project))
    return CandidateGroup.objects.create(run=run, caption=caption, **fields)


def make_candidate(group: CandidateGroup, text: str = "a man unfolds a shirt.", **fields: Any) -> Candidate:
    values = {
        "method": group.run.method,
        "method_version": "1",
        "text_sha256": sha(text),
        "state": CandidateState.QUEUED,
        "span_start": 0,
        "span_end": len(group.caption.text),
        "edits": [[0, len(group.caption.text), text]],
        "source": group.caption.text,
        "target": text,
    }
    return Candidate.objects.create(group=group, text=text, **{**values, **fields})


def make_score(candidate: Candidate, slug: str, *, passed: bool = True, **fields: Any) -> FilterScore:
    values = {"run": candidate.group.run, "filter": slug, "filter_version": "1", "passed": passed}
    return FilterScore.objects.create(candidate=candidate, **{**values, **fields})


def make_task(project: Project, stage: str, video: Video, overlap: int = 1, **target: Any) -> Task:
    task = Task.objects.create(project=project, stage=stage, video=video, overlap=overlap, **target)
    Slot.objects.bulk_create(
        Slot(task=task, project=project, stage=stage, video=video, item=target.get("item"), index=i)
        for i in range(overlap)
    )
    return task
