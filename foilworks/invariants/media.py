"""Clips: what is ready has its file, what is not says why (workflow.md, rule 10)."""

from collections.abc import Iterator

from django.core.files.storage import default_storage
from django.db.models import F, Q

from corpus.models import MediaState, Video
from foilworks.invariants.violation import Finding, name_of, rows


def a_ready_clip_has_its_file() -> Iterator[Finding]:
    ready = Video.objects.filter(media_state=MediaState.READY)
    yield from rows(ready.filter(file=""), "is ready without a file")
    there: dict[str, bool] = {}
    for pk, name in ready.exclude(file="").order_by("pk").values_list("pk", "file").iterator():
        if name not in there:
            there[name] = default_storage.exists(name)
        if not there[name]:
            yield Finding(name_of(Video, pk), f"is ready, but its file {name} is gone")


def a_clip_elsewhere_has_its_address() -> Iterator[Finding]:
    yield from rows(Video.objects.filter(media_state=MediaState.ELSEWHERE, url=""), "has neither file nor address")


def a_broken_clip_says_why() -> Iterator[Finding]:
    yield from rows(Video.objects.filter(media_state=MediaState.BROKEN, media_error=""), "is broken without a reason")


def trims_are_in_order() -> Iterator[Finding]:
    backwards = Q(end_time__isnull=False, start_time__isnull=False, end_time__lte=F("start_time"))
    wrong = Video.objects.filter(backwards | Q(start_time__lt=0) | Q(end_time__lte=0))
    yield from rows(wrong, "ends before it starts")
