"""Read items as the plain records that releases freeze and exports write, in a fixed number of queries."""

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.facts.stored_facts import is_valid
from foilworks.core.corpus.models import COUNTS_AS_VALID, Foil, Item, MediaState, Subtest, Video
from foilworks.core.corpus.records import ItemRecord, PairRecord, StoredRecords, VideoRecord
from foilworks.core.corpus.release_records import SCREENED_BY, release_id, release_record
from foilworks.core.corpus.rules.hard_foils import HARD_FOIL
from foilworks.core.corpus.rules.states import CandidateState, is_left_out
from foilworks.core.corpus.rules.two_clips import whole_pairs
from foilworks.core.media.subtitles import spoken
from foilworks.core.projects.models import Project
from foilworks.core.projects.pseudonyms import pseudonym
from generation.choices.compose import COMPOSED
from generation.filters.registry import SCREENING
from generation.models import Candidate, FilterScore

# Candidates that no item takes; a superseded one may have been taken before a person reworded it.
NOT_USED = (CandidateState.GENERATED, CandidateState.FILTERED_OUT)
# A composed item may take what nobody has reviewed yet.
NOT_REVIEWED = (CandidateState.QUEUED, CandidateState.IN_REVIEW)


# Rows, with all that they refer to, that are in memory together; their records are smaller.
ROWS_PER_QUERY = 500


@dataclass(frozen=True)
class FrozenItem:
    """The keys of an item and of its video, and the item's record."""

    item_id: int
    video_id: int
    record: dict[str, Any]


FrozenItems = StoredRecords[FrozenItem]


def records_of(frozen: FrozenItems) -> StoredRecords[dict[str, Any]]:
    """Return the records of the items."""
    return frozen.each(attrgetter("record"))


def frozen_items(project: Project, items: QuerySet[Item] | None = None) -> FrozenItems:
    """Return main items (all of the project, or those given) with their records, by record id. A fixed number of
    queries per `ROWS_PER_QUERY` items. Only the ids are in memory together.

    A record has the item's foils and those of its proficiency pair (of a valid one, without dropped foils), and the
    origin of each foil.
    """
    items_of_project = items if items is not None else Item.objects.filter(subtest__kind=Subtest.Kind.MAIN)
    keys = array("q", items_of_project.filter(subtest__project=project).values_list("pk", flat=True).order_by("pk"))
    screened = screened_by(project) if keys else {}
    starts = range(0, len(keys), ROWS_PER_QUERY)
    frozen = StoredRecords(
        (row for at in starts for row in _frozen(project, keys[at : at + ROWS_PER_QUERY].tolist(), screened)),
        lambda member: (member.item_id, member.video_id, member.record),
        lambda values: FrozenItem(*values),
    )
    return frozen.in_order(lambda member: member.record["id"])


def _frozen(project: Project, keys: list[int], screened: Mapping[int, list[str]]) -> Iterator[FrozenItem]:
    rows = Item.objects.filter(pk__in=keys).select_related(
        "subtest", "video", "caption", "proficiency_item__subtest", "proficiency_item__caption"
    )
    foils = _foils(rows)
    provenance = _provenance_of_composed(project, rows, foils, screened) | _provenance(project, rows, screened)
    return (FrozenItem(item.pk, item.video_id, _record(item, foils, provenance)) for item in rows)


def valid_items(project: Project) -> FrozenItems:
    """Return what a release frozen now contains. EvaluationError: nothing is valid yet, or two items share an id."""
    return whole_items(_valid_items(project))[0]


def whole_items(frozen: FrozenItems) -> tuple[FrozenItems, FrozenItems]:
    """Return the items that a release takes, and the halves of pairs that it leaves out, since the other half is not
    valid or no longer fits. EvaluationError: there are only such halves.
    """
    halves = halves_among(records_of(frozen))
    if len(halves) == len(frozen):
        raise EvaluationError(
            _(
                "Every valid item is half of a pair of two clips, and no pair has two valid items. Wait until "
                "validators finish the other items."
            )
        )
    return frozen.at(at for at in range(len(frozen)) if at not in halves), frozen.at(sorted(halves))


def freeze_candidates(project: Project) -> tuple[FrozenItems, FrozenItems]:
    """Return `whole_items` of the valid items."""
    return whole_items(_valid_items(project))


def halves_among(records: Collection[Mapping[str, Any]]) -> set[int]:
    """Return the positions of halves whose pair is not whole."""
    paired = {at for positions in whole_pairs(records) for at in positions}
    return {at for at, record in enumerate(records) if record.get("pair") and at not in paired}


def half_items(project: Project) -> list[Item]:
    """Return the valid items that a release leaves out because their pair is not whole. One query without pairs."""
    valid = Item.objects.filter(COUNTS_AS_VALID, subtest__project=project, subtest__kind=Subtest.Kind.MAIN)
    rows = valid.filter(pair__gt="").exclude(video__media_state=MediaState.TAKEN_DOWN).order_by("pk")
    items = list(rows.select_related("subtest", "video", "caption").prefetch_related("foils"))
    records = [
        {
            "id": item_name(item),
            "subtest": item.subtest.name,
            "pair": item.pair,
            "video": {"key": item.video.key},
            "caption": item.caption.text,
            "foils": [foil.text for foil in _remaining_foils(item, list(item.foils.all()))],
        }
        for item in items
    ]
    return [items[at] for at in sorted(halves_among(records))]


def _valid_items(project: Project) -> FrozenItems:
    valid = Item.objects.filter(COUNTS_AS_VALID, subtest__kind=Subtest.Kind.MAIN)
    # A takedown retracts valid items, but older imports could add valid items to the clip afterwards.
    frozen = frozen_items(project, valid.exclude(video__media_state=MediaState.TAKEN_DOWN))
    if not frozen:
        raise EvaluationError(
            _(
                "No item is valid yet, so there is nothing to release. Wait until validators finish. For a "
                "published benchmark, import its file again as published and with updates."
            )
        )
    # By id; older imports could store `1` and `s:1` in the subtest `s`.
    for name, next_name in pairwise(frozen.each(lambda member: member.record["id"])):
        if name == next_name:
            raise EvaluationError(
                _("Two valid items have the release id '%(id)s'. Retract one of them.") % {"id": name}
            )
    return frozen


def item_name(item: Item) -> str:
    """Return the item's id in releases and exports; load `item.subtest` first."""
    return release_id(item.subtest.name, item.key)


def plain_record(item: Item, own_foils: Sequence[Foil], of_pair: Sequence[Foil], id_: str) -> ItemRecord:
    """Return the item as importers read it, without votes; `of_pair` are the foils of its proficiency item."""
    simpler = item.proficiency_item
    return ItemRecord(
        id=id_,
        subtest=item.subtest.name,
        test=item.subtest.test,
        video=video_record(item.video),
        caption=item.caption.text,
        foils=tuple(foil.text for foil in own_foils),
        proficiency=_pair(simpler, of_pair) if simpler else None,
        extra=item.extra,
        facts=item.known_facts,
        pair=item.pair,
    )


def _record(item: Item, foils: dict[int, list[Foil]], provenance: dict[int, dict[str, Any]]) -> dict[str, Any]:
    own_foils = _remaining_foils(item, foils.get(item.pk, []))
    simpler = item.proficiency_item
    of_pair = _remaining_foils(simpler, foils.get(simpler.pk, [])) if simpler else []
    return release_record(
        plain_record(item, own_foils, of_pair, item_name(item)),
        media=_media(item.video),
        positions=[foil.position for foil in own_foils],
        provenance=[provenance.get(foil.pk) for foil in own_foils],
        proficiency_id=item_name(simpler) if simpler else "",
        proficiency_valid=is_valid(simpler) if simpler else None,
        proficiency_positions=[foil.position for foil in of_pair],
        as_published=item.is_on_publishers_word,
    )


def _remaining_foils(item: Item, foils: Sequence[Foil]) -> list[Foil]:
    return [foil for foil in foils if not is_left_out(foil.verdict, item.state)]


def _pair(simpler: Item, foils: Sequence[Foil]) -> PairRecord:
    return PairRecord(simpler.caption.text, tuple(foil.text for foil in foils), None, simpler.extra)


def video_record(video: Video) -> VideoRecord:
    return VideoRecord(
        key=video.key,
        file=video.file.name or "",
        url=video.url,
        source_dataset=video.source_dataset,
        source_id=video.source_id,
        start_time=video.start_time,
        end_time=video.end_time,
        time_unit=video.time_unit,
        split=video.split,
        class_label=video.class_label,
        category=video.category,
        movie=video.movie,
    )


def _media(video: Video) -> dict[str, Any]:
    return {
        "sha256": video.sha256,
        "duration": video.duration,
        "fps": video.fps,
        "n_frames": video.n_frames,
        "width": video.width,
        "height": video.height,
        # Only if there are any: earlier releases keep their hash.
        **({"subtitles": spoken_text} if (spoken_text := _spoken(video)) else {}),
    }


def _spoken(video: Video) -> str:
    """Return the lines of the video's subtitles that are shown during the clip."""
    in_seconds = video.time_unit == "sec"
    edges = (video.start_time, video.end_time) if in_seconds else (None, None)
    return spoken(video.subtitles, *edges) if video.subtitles else ""


def _foils(items: QuerySet[Item]) -> dict[int, list[Foil]]:
    """Return the foils of the items and of their proficiency items, by item."""
    foils_by_item: dict[int, list[Foil]] = defaultdict(list)
    of_items = Q(item__in=items.values("pk")) | Q(item__in=items.values("proficiency_item"))
    for foil in Foil.objects.filter(of_items).order_by("item_id", "position"):
        foils_by_item[foil.item_id].append(foil)
    return foils_by_item


def _provenance(
    project: Project, items: QuerySet[Item], screened: Mapping[int, list[str]]
) -> dict[int, dict[str, Any]]:
    """Return the origin of each foil of the items, by the foil's row id; a person is under a pseudonym."""
    candidates = (
        Candidate.objects.filter(foil__item__in=items.values("pk"))
        # A run has thousands of candidates, so it is read once.
        .select_related("parent", "group")
        .prefetch_related("filter_scores", "group__run")
    )
    return {row.foil_id: made_by(project, row, screened) for row in candidates if row.foil_id}


def _provenance_of_composed(
    project: Project, items: Iterable[Item], foils: Mapping[int, Sequence[Foil]], screened: Mapping[int, list[str]]
) -> dict[int, dict[str, Any]]:
    """Return the origin of the hard foils of composed items, by the foil's row id: the candidate that they repeat.

    One query if there is no such item.
    """
    foils_by_source: dict[tuple[int, str, str], list[int]] = defaultdict(list)
    for item in items:
        source = (item.known_facts.get(COMPOSED) or {}).get("hard")
        for foil in foils.get(item.pk, []) if source else []:
            if foil.position == item.known_facts.get(HARD_FOIL):
                foils_by_source[item.caption_id, foil.text_sha256, source].append(foil.pk)
    if not foils_by_source:
        return {}
    rows = Candidate.objects.filter(group__run__project=project).exclude(state__in=NOT_USED)
    rows = rows.filter(group__run__subtest__name__in={source for *_key, source in foils_by_source}).order_by("pk")
    # Several runs may have made the text: the newest counts.
    columns = rows.values_list("group__caption", "text_sha256", "group__run__subtest__name", "pk")
    ids = {
        (caption, text, source): pk
        for caption, text, source, pk in columns
        if (caption, text, source) in foils_by_source
    }
    candidates = Candidate.objects.select_related("parent", "group__run").prefetch_related("filter_scores")
    candidate_by_id = candidates.in_bulk(list(ids.values()))
    return {
        foil: made_by(project, row, screened)
        for key, row in ((key, candidate_by_id[pk]) for key, pk in ids.items())
        for foil in foils_by_source[key]
    }


def screened_by(project: Project) -> dict[int, list[str]]:
    """Return candidate -> keys of the models that screened it before people saw it. One query."""
    models_by_candidate: dict[int, set[str]] = defaultdict(set)
    scores = FilterScore.objects.filter(run__project=project, filter=SCREENING, measure__isnull=False)
    for candidate, model in scores.values_list("candidate_id", "measure__scorer__params__model"):
        models_by_candidate[candidate].add(model)
    return {candidate: sorted(models) for candidate, models in models_by_candidate.items()}


def made_by(project: Project, candidate: Candidate, screened: Mapping[int, list[str]]) -> dict[str, Any]:
    """Return the provenance of a candidate; `screened`: see `screened_by`. Load its parent, group.run, scores."""
    # A person edits what a model let pass.
    judges = screened.get(candidate.pk) or screened.get(candidate.parent_id or 0)
    source = candidate.parent
    return {
        "method": candidate.method,
        "method_version": candidate.method_version,
        "mode": candidate.mode,
        "model_id": candidate.model_id,
        "model_revision": candidate.model_revision,
        "prompt_template": candidate.prompt_template,
        "prompt_hash": candidate.prompt_hash,
        "seed": candidate.seed,
        "params": candidate.group.run.params,
        "author": pseudonym(project, candidate.author_id) if candidate.author_id else None,
        "edits": candidate.edits,
        "span": [candidate.span_start, candidate.span_end],
        "source": candidate.source,
        "target": candidate.target,
        "facts": candidate.facts,
        "parent": None if source is None else {"text": source.text, "method": source.method, "mode": source.mode},
        "filters": _filters(candidate),
        # Only if set, so that older releases keep their hash.
        **({"unreviewed": True} if candidate.unreviewed or candidate.state in NOT_REVIEWED else {}),
        **({SCREENED_BY: judges} if judges else {}),
    }


def _filters(candidate: Candidate) -> list[dict[str, Any]]:
    rows: Iterable[Any] = candidate.filter_scores.all()
    return [
        {
            "filter": row.filter,
            "version": row.filter_version,
            "score": row.score,
            "passed": row.passed,
            **({"sampled": True} if row.sampled else {}),
        }
        for row in sorted(rows, key=lambda row: row.filter)
    ]
