"""Makes a project's captions with a caption maker: a look at the first sources, then all of them, stored in batches."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from corpus.models import Caption, MediaState, Video
from generation.asking.answer_rows import RowAnswers
from generation.asking.services import services
from generation.captioning.registry import CAPTIONERS
from generation.errors import GenerationError
from generation.models.side_work import CaptionRun, CaptionSources
from generation.records import CaptionInput, MadeCaption, Skip, most_frequent
from generation.run_captions import captions_to_use
from jobs.models import Job
from jobs.progress import progress
from text.registry import load, lookup, version_of

LOOKED_AT = 200
SHOWN = 20
BATCH = 500
MAX_KEY_LENGTH = 200

# The row of a source, the video that its captions are of, what the maker is told of it.
Source = tuple[int, int, CaptionInput]


def preview_captions(run: CaptionRun, job: Job) -> None:
    """Note what the maker makes of the first sources; nothing of the project changes."""
    module, version = _maker(run)
    sources = list(islice(_sources(run, 0), LOOKED_AT))
    made, skipped = [], Counter[str]()
    for _, thing in _made(run, module, sources, _given(run, module, job, len(sources))):
        if isinstance(thing, Skip):
            skipped[thing.why] += 1
        else:
            made.append([_source_text(sources, thing), thing.text])
    shown = {"sources": len(sources), "made": made[:SHOWN], "n_made": len(made)}
    run.preview = {**shown, "skipped": most_frequent(skipped)}
    run.maker_version = version
    run.save(update_fields=["preview", "maker_version"])
    progress(job, len(sources), len(sources), "looked at the first sources")


def store_captions(run: CaptionRun, job: Job) -> None:
    """Make and store the captions of all sources, a batch a transaction; goes on behind what is stored.

    GenerationError: the maker has changed since the preview.
    """
    module, version = _maker(run)
    if run.maker_version != version:
        raise GenerationError("the caption maker has changed since the preview; look at it again")
    total = _rows(run).count()
    done = total - _rows(run).filter(pk__gt=run.cursor).count()
    stream = _sources(run, run.cursor)
    given = _given(run, module, job, total)
    while batch := list(islice(stream, BATCH)):
        # Outside the transaction: a model that is asked takes its time, and its answers are kept one by one.
        _store(run, list(_made(run, module, batch, given)), batch)
        done += len(batch)
        progress(job, done, total, "making captions")
    progress(job, total, total, "done")


def _maker(run: CaptionRun) -> tuple[Any, str]:
    """The module of the run's maker, and its version as provenance shows it."""
    entry = lookup(CAPTIONERS, run.maker, "caption maker")
    module = load(entry)
    return module, version_of(entry, module)


def _rows(run: CaptionRun) -> QuerySet[Any]:
    """Captions or videos without one, never those that came in later."""
    if run.sources == CaptionSources.VIDEOS:
        by_others = Q(facts__made_by_run__isnull=True) | ~Q(facts__made_by_run=run.pk)
        others = Caption.objects.filter(by_others, video=OuterRef("pk"))
        videos = Video.objects.filter(project=run.project, pk__lte=run.last_source).filter(~Exists(others))
        videos = videos.exclude(media_state=MediaState.TAKEN_DOWN)
        return (videos.filter(split=run.split) if run.split else videos).order_by("pk")
    captions = captions_to_use(run.project).filter(pk__lte=run.last_source).select_related("video")
    return (captions.filter(video__split=run.split) if run.split else captions).order_by("pk")


def _sources(run: CaptionRun, after: int) -> Iterator[Source]:
    # By key ranges, not one open cursor: batches are written between two reads.
    while chunk := list(_rows(run).filter(pk__gt=after)[:BATCH]):
        after = chunk[-1].pk
        for row in chunk:
            video = row if isinstance(row, Video) else row.video
            text, facts = ("", {}) if isinstance(row, Video) else (row.text, row.facts)
            known = {"class_label": video.class_label, "category": video.category}
            facts = {**{name: value for name, value in known.items() if value}, **facts}
            # Made of contents, not of row numbers: the same corpus in another database gets the same captions.
            name = video.key if isinstance(row, Video) else f"{video.key}/{row.text_sha256}"
            yield row.pk, video.pk, CaptionInput(name, text, video.key, facts)


def _given(run: CaptionRun, module: Any, job: Job, total: int) -> dict[str, Any]:
    """What a maker that asks a model is handed; its answers are kept for all runs."""

    def heard(replies: int) -> None:
        progress(job, job.done, total, "asking the model")

    return services(module, run.params, RowAnswers(None, heard), project=run.project)


def _made(
    run: CaptionRun, module: Any, sources: Sequence[Source], served: Mapping[str, Any]
) -> Iterator[tuple[int, MadeCaption | Skip]]:
    """(the video's row, what was made of a source)."""
    videos = {given.id: video for _, video, given in sources}
    given = [source for _, _, source in sources]
    for thing in module.make(given, params=dict(run.params), mode=run.mode, seed=run.seed, **served):
        yield videos[thing.caption_id if isinstance(thing, Skip) else thing.source_id], thing


def _source_text(sources: Sequence[Source], made: MadeCaption) -> str:
    source = next(given for _, _, given in sources if given.id == made.source_id)
    return source.text or str(source.facts.get("class_label") or source.video)


@transaction.atomic
def _store(run: CaptionRun, things: Sequence[tuple[int, MadeCaption | Skip]], batch: Sequence[Source]) -> None:
    """One batch, with the run's counts and how far it is."""
    rows: dict[tuple[int, str], Caption] = {}
    for video, thing in things:
        if isinstance(thing, MadeCaption):
            row = _row(run, video, thing)
            rows.setdefault((video, row.text_sha256), row)
    there = set(Caption.objects.filter(video__in={video for video, _ in rows}).values_list("video_id", "text_sha256"))
    new = [row for key, row in rows.items() if key not in there]
    Caption.objects.bulk_create(new, BATCH)
    run.stored += len(new)
    run.known += len(rows) - len(new)
    reasons = Counter(run.skipped)
    reasons.update(thing.why for _, thing in things if isinstance(thing, Skip))
    run.skipped = most_frequent(reasons)
    run.cursor = batch[-1][0]
    run.save(update_fields=["stored", "known", "skipped", "cursor"])


def _row(run: CaptionRun, video: int, made: MadeCaption) -> Caption:
    sha256 = hashlib.sha256(made.text.encode()).hexdigest()
    facts = {**made.facts, "maker": made.maker, "mode": made.mode, "made_by_run": run.pk}
    key = f"{made.maker}-{sha256[:12]}"[:MAX_KEY_LENGTH]
    return Caption(video_id=video, key=key, text=made.text, text_sha256=sha256, facts=facts)
