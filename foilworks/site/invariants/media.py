"""Clips: a ready clip has its file, and any other says why not (docs/workflow.md#rule-10)."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.core.files.storage import default_storage
from django.db.models import F, Q

from foilworks.core.corpus.models import MediaState, Video
from foilworks.site.invariants.violation import InvariantViolation, name_of, rows


def a_ready_clip_has_its_file() -> Iterator[InvariantViolation]:
    ready = Video.objects.filter(media_state=MediaState.READY)
    yield from rows(ready.filter(file=""), "is ready without a file")
    exists_by_name: dict[str, bool] = {}
    for pk, name in ready.exclude(file="").order_by("pk").values_list("pk", "file").iterator():
        if name not in exists_by_name:
            exists_by_name[name] = default_storage.exists(name)
        if not exists_by_name[name]:
            yield InvariantViolation(name_of(Video, pk), f"is ready, but its file {name} is missing")


def a_stored_file_is_its_hash(
    progress: Callable[[Iterable[Any], int, str], Iterator[Any]],
) -> Iterator[InvariantViolation]:
    """Read every stored video once and compare its hash.

    It is not one of the invariants: it takes as long as copying all videos, and needs no snapshot of the database.
    """
    ready = Video.objects.filter(media_state=MediaState.READY).exclude(file="").exclude(sha256="")
    clips: dict[tuple[str, str], list[int]] = {}
    for pk, name, sha256 in ready.order_by("pk").values_list("pk", "file", "sha256").iterator():
        clips.setdefault((name, sha256), []).append(pk)
    for (name, sha256), keys in progress(clips.items(), len(clips), "reading"):
        try:
            with default_storage.open(name) as file:
                is_same = hashlib.file_digest(file, "sha256").hexdigest() == sha256
        except FileNotFoundError:  # the invariant above names it
            continue
        except OSError as error:
            problem = f"its file {name} cannot be read ({error.strerror or error})"
            yield from (InvariantViolation(name_of(Video, pk), problem) for pk in keys)
            continue
        if not is_same:
            problem = f"its file {name} has changed since it was stored; replace it by an intact copy"
            yield from (InvariantViolation(name_of(Video, pk), problem) for pk in keys)


def a_clip_elsewhere_has_its_address() -> Iterator[InvariantViolation]:
    yield from rows(Video.objects.filter(media_state=MediaState.ELSEWHERE, url=""), "has neither a file nor an address")


def a_broken_clip_says_why() -> Iterator[InvariantViolation]:
    yield from rows(Video.objects.filter(media_state=MediaState.BROKEN, media_error=""), "is broken without a reason")


def trims_are_in_order() -> Iterator[InvariantViolation]:
    backwards = Q(end_time__isnull=False, start_time__isnull=False, end_time__lte=F("start_time"))
    wrong = Video.objects.filter(backwards | Q(start_time__lt=0) | Q(end_time__lte=0))
    yield from rows(wrong, "ends before it starts")
