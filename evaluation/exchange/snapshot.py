"""Items as release records: what a release freezes and an export writes, in a bounded number of queries."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Prefetch, QuerySet

from corpus.models import Foil, Item, Video
from corpus.records import ItemRecord, PairRecord, VideoRecord
from corpus.release_records import release_id, release_record
from corpus.rules.states import FoilVerdict, ItemState
from generation.models import Candidate

# What happened to the row, not what it is: everything else of a candidate is provenance.
_PROVENANCE = (
    "method",
    "method_version",
    "mode",
    "model_id",
    "model_revision",
    "prompt_template",
    "prompt_hash",
    "seed",
    "edits",
    "source",
    "target",
)


def item_records(items: QuerySet[Item]) -> Iterator[tuple[Item, dict[str, Any]]]:
    """(item, its release record) in the order of the query; six queries, however many items.

    Foils that validation found invalid have dropped out where the subtest lets them, so that a record of a valid item
    holds what a model is scored on.
    """
    made = Candidate.objects.select_related("group__run", "author", "parent")
    foils = Prefetch("foils", Foil.objects.order_by("position").prefetch_related(Prefetch("candidate", made)))
    rows = items.select_related("subtest", "video", "caption", "proficiency_item__subtest", "proficiency_item__caption")
    for item in rows.prefetch_related(foils, Prefetch("proficiency_item__foils", Foil.objects.order_by("position"))):
        yield item, _record(item)


def item_id(item: Item) -> str:
    """The item's id in releases, exports and score files. The item comes with its subtest."""
    return release_id(item.subtest.name, item.key)


def _record(item: Item) -> dict[str, Any]:
    foils = _kept_foils(item)
    pair = item.proficiency_item
    return release_record(
        ItemRecord(
            id=item_id(item),
            subtest=item.subtest.name,
            test=item.subtest.test,
            video=_video(item.video),
            caption=item.caption.text,
            foils=tuple(foil.text for foil in foils),
            proficiency=_pair(pair) if pair else None,
            extra=item.extra,
            facts=item.caption.facts,
        ),
        media=_media(item.video),
        positions=[foil.position for foil in foils],
        provenance=[_provenance(foil) for foil in foils],
        proficiency_id=item_id(pair) if pair else "",
        proficiency_valid=pair.state == ItemState.VALID if pair else None,
    )


def _kept_foils(item: Item) -> list[Foil]:
    foils = list(item.foils.all())
    if item.state != ItemState.VALID or item.subtest.valid_when == item.subtest.ValidWhen.ALL:
        return foils
    return [foil for foil in foils if foil.verdict == FoilVerdict.VALID]


def _pair(item: Item) -> PairRecord:
    return PairRecord(item.caption.text, tuple(foil.text for foil in item.foils.all()), extra=item.extra)


def _video(video: Video) -> VideoRecord:
    names = ("key", "url", "source_dataset", "source_id", "start_time", "end_time", "time_unit")
    labels = ("split", "class_label", "category", "movie")
    return VideoRecord(file=video.file.name or "", **{name: getattr(video, name) for name in (*names, *labels)})


def _media(video: Video) -> dict[str, Any]:
    names = ("sha256", "duration", "fps", "n_frames", "width", "height")
    return {name: getattr(video, name) for name in names}


def _provenance(foil: Foil) -> dict[str, Any] | None:
    """What made the foil; None for an imported one. People are named by no id here: the record is for everybody."""
    made: Candidate | None = getattr(foil, "candidate", None)
    if made is None:
        return None
    facts = {name: getattr(made, name) for name in _PROVENANCE}
    by_person = made.author is not None
    return {
        **facts,
        "params": made.group.run.params,
        "run_seed": made.group.run.seed,
        "author": ("simulated person" if made.author.is_simulated else "person") if by_person else "model",
        "edited_from": made.parent.text if made.parent else None,
    }
