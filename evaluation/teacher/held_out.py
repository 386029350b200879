"""A release as the set on which student and trained model are read."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Exists, OuterRef

from corpus.models import Caption, Release, ReleaseItem, Split, Subtest, Video
from evaluation.errors import EvaluationError
from evaluation.reports.scored_facts import facts_of
from evaluation.scoring.clip_keys import clip_key, cluster
from evaluation.teacher.readings import ACTION, HeldOut
from projects.models import Project


def check_held_out(release: Release) -> None:
    """EvaluationError: a release without items, or with source videos that clips of the train split are from, on which
    a reading proves nothing."""
    _check_items(release)
    _check_sources(release, _sources_of(release.project))


def check_learnt(release: Release, videos: Iterable[Video]) -> None:
    """EvaluationError: the release has source videos that `videos`, which a training has settled on, are from."""
    _check_sources(release, {name for video in videos for name in _names(vars(video))})


def _check_items(release: Release) -> None:
    members = ReleaseItem.objects.filter(release=release)
    if not members.exists():
        raise EvaluationError(f"{release.name}: has no items; choose another release")
    seen = members.filter(video__split=Split.TRAIN).count()
    if seen:
        raise EvaluationError(
            f"{release.name}: {seen} of its items show clips of the train split, which students learn from; freeze a "
            "release of other splits"
        )


def _check_sources(release: Release, learnt: set[str]) -> None:
    members = ReleaseItem.objects.filter(release=release)
    shared = [
        record["id"]
        for record in members.order_by("position").values_list("record", flat=True).iterator()
        if not learnt.isdisjoint(_names(record["video"]))
    ]
    if shared:
        raise EvaluationError(
            f"{release.name}: {len(shared)} of its items show source videos that clips of the train split are from, "
            f"too, the first {shared[0]}; freeze a release of other source videos"
        )


def _sources_of(project: Project) -> set[str]:
    """What the captioned clips of the train split are from."""
    rows = Video.objects.filter(project=project, split=Split.TRAIN)
    rows = rows.filter(Exists(Caption.objects.filter(video=OuterRef("pk"))))
    found: set[str] = set()
    for video in rows.values("source_dataset", "source_id", "sha256", "key").iterator():
        found |= _names(video)
    return found


def _names(video: Mapping[str, Any]) -> set[str]:
    """Its source video and its file: the same file may have come under two names."""
    return {cluster(video), *filter(None, [video["sha256"]])}


def held_out_of(release: Release) -> tuple[HeldOut, list[ReleaseItem], list[str]]:
    """The set, for each of its clips a member that shows it, and the ids of items whose clip has no file.

    A clip's own caption is that of its first item. EvaluationError: no clip has a file.
    """
    # Not the source videos: clips come into the train split that a training which goes on has not learnt from.
    _check_items(release)
    counterfactual = set(
        Subtest.objects.filter(project=release.project, changes=Subtest.Changes.ACTION).values_list("name", flat=True)
    )
    members = ReleaseItem.objects.filter(release=release).select_related("video").order_by("position")
    clips: dict[str, int] = {}
    shown: list[ReleaseItem] = []
    left_out: list[str] = []
    rows: list[tuple[str, tuple[str, ...], tuple[str, ...], int]] = []
    for member in members:
        record = member.record
        if member.video is None or member.video.media_state != "ready" or not member.video.file:
            left_out.append(record["id"])
            continue
        key = clip_key(record["video"])
        if key not in clips:
            clips[key] = len(shown)
            shown.append(member)
        said = facts_of(record)["edited"]
        named = said if isinstance(said, list) else [said] * len(record["foils"])
        kinds = [kind if isinstance(kind, str) else "" for kind in named]
        if record["subtest"] in counterfactual:
            kinds = [ACTION] * len(kinds)
        rows.append((record["id"], (record["caption"], *record["foils"]), tuple(kinds), clips[key]))
    if not rows:
        raise EvaluationError(f"{release.name}: none of its clips has a file; attach videos first")
    ids, texts, kinds_of, places = zip(*rows, strict=True)
    captions = tuple(member.record["caption"] for member in shown)
    sources = tuple(cluster(member.record["video"]) for member in shown)
    return HeldOut(ids, texts, kinds_of, places, captions, sources), shown, left_out
