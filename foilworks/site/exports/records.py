"""Read a release, or a project as it is now, as records, a batch at a time."""

from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from annotation.models import Choice, Stage, Vote, VoteState
from evaluation.releases.holdback import held_clips, holdback_of
from evaluation.releases.snapshot import plain_record, video_record
from evaluation.releases.withheld import withheld_of
from foilworks.core.corpus.models import (
    PUBLISHERS_WORD,
    Caption,
    Item,
    MediaState,
    Release,
    ReleaseItem,
    Subtest,
    withdrawn_items,
)
from foilworks.core.corpus.records import MAX_ID, ItemRecord, RecordContent, Records, VoteCounts
from foilworks.core.corpus.release_records import (
    about_the_item,
    as_published_facts,
    canary_of,
    foil_counts,
    hash_of,
    holdback_facts,
    item_record,
    n_as_published,
    release_id,
)
from foilworks.core.projects.models import Project
from foilworks.site.imports.batch import CHUNK
from foilworks.site.imports.survey import Progress, silent

READ_KEYS = 10_000
_ITEM = ("subtest", "video", "caption", "proficiency_item__subtest", "proficiency_item__caption")


def release_content(release: Release, progress: Progress = silent) -> RecordContent:
    """Return the released items with their vote counts, by id; taken-down items are left out and named."""
    withheld = withheld_of(release)
    facts = as_published_facts(release.n_as_published)
    if withheld:
        remaining_records = [record for _row, record in _members(release) if record["id"] not in withheld]
        facts = as_published_facts(n_as_published(remaining_records))
        facts |= {
            "withheld": [dict(withheld_item) for withheld_item in withheld.values()],
            "held_hash": hash_of(remaining_records),
        }
    return RecordContent(
        project=release.project.slug,
        release=release.name,
        content_hash=release.shown_hash,
        created_at=release.created_at.isoformat(),
        simulated=release.project.is_simulated,
        facts=facts | holdback_facts(canary_of(release.content_hash), holdback_of(release)),
        records=_with_progress(
            partial(_released, release, frozenset(withheld)), release.n_public - len(withheld), progress
        ),
    )


def project_content(project: Project, progress: Progress = silent) -> RecordContent:
    """Return the project's items in any state, and its captions without items, in the order of import.

    Those on clips with private items of a release are left out.
    """
    items, captions = _items(project), _captions(project)
    return RecordContent(
        project=project.slug,
        release="",
        content_hash="",
        created_at=timezone.now().isoformat(),
        simulated=project.is_simulated,
        facts=as_published_facts(items.filter(PUBLISHERS_WORD).count()),
        records=_with_progress(partial(_current, project), items.count() + captions.count(), progress),
    )


def _with_progress(read: Any, n: int, progress: Progress) -> Records:
    return Records(lambda: progress(read(), n, "records"), n)


def _released(release: Release, withheld: frozenset[str]) -> Iterator[ItemRecord]:
    chunk: list[tuple[Item | None, Mapping[str, Any]]] = []
    for row, record in _members(release):
        if record["id"] in withheld:
            continue
        chunk.append((row, record))
        if len(chunk) == CHUNK:
            yield from _thawed(chunk)
            chunk = []
    yield from _thawed(chunk)


def _members(release: Release) -> Iterator[tuple[Item | None, Mapping[str, Any]]]:
    """Return (row as it is now, record as it was frozen), by the record's id."""
    last_position = -1
    members = ReleaseItem.objects.filter(release=release, is_private=False)
    rows = members.select_related("item").order_by("position")
    while batch := list(rows.filter(position__gt=last_position)[:CHUNK]):
        yield from ((row.item, row.record) for row in batch)
        last_position = batch[-1].position


def _thawed(chunk: Sequence[tuple[Item | None, Mapping[str, Any]]]) -> Iterator[ItemRecord]:
    foil_counts_by_id = foil_counts(record for _, record in chunk)
    n_foils: dict[int, int] = {}
    for row, record in chunk:
        pair = record["proficiency"]
        if row is not None:
            n_foils[row.pk] = foil_counts_by_id[record["id"]]
        if row is not None and row.proficiency_item_id and pair:
            n_foils[row.proficiency_item_id] = foil_counts_by_id[pair["id"]]
    counts = _counts(n_foils)
    for row, record in chunk:
        votes: dict[str, VoteCounts] = {}
        pair = record["proficiency"]
        if row is not None and row.pk in counts:
            votes[record["id"]] = counts[row.pk]
        if row is not None and pair and row.proficiency_item_id in counts:
            votes[pair["id"]] = counts[row.proficiency_item_id]
        yield item_record(record, votes)


def _counts(n_foils: Mapping[int, int]) -> dict[int, VoteCounts]:
    """Count the validators' votes by item, of items whose foils are counted here; none if the votes were given per foil
    to an item of several foils.
    """
    tallies: dict[int, dict[int | None, dict[str, int]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(int)))
    votes = Vote.objects.filter(item__in=list(n_foils), stage=Stage.VALIDATION, state=VoteState.COUNTED)
    rows = votes.order_by().values_list("item_id", "foil_id", "choice").annotate(n=Count("pk"))
    for item, foil, choice, n in rows:
        tallies[item][foil][choice if choice in (Choice.CAPTION, Choice.FOIL) else Choice.OTHER] += n
    return {
        item: VoteCounts(*(counts[choice] for choice in (Choice.CAPTION, Choice.FOIL, Choice.OTHER)))
        for item, by_foil in tallies.items()
        if about_the_item(by_foil, n_foils[item])
        for counts in by_foil.values()
    }


def _items(project: Project) -> QuerySet[Item]:
    rows = Item.objects.filter(subtest__project=project, subtest__kind=Subtest.Kind.MAIN).exclude(withdrawn_items())
    return rows.exclude(video__in=held_clips(project))


def _captions(project: Project) -> QuerySet[Caption]:
    """Return captions that need foils; a corrected one has its corrected text."""
    rows = Caption.objects.filter(Q(items=None) & Q(revision=None), video__project=project)
    return rows.exclude(video__media_state=MediaState.TAKEN_DOWN).exclude(video__in=held_clips(project))


def _current(project: Project) -> Iterator[ItemRecord]:
    shared = _shared_keys(project)
    for items in _by_key(_items(project), _ITEM, ("foils", "proficiency_item__foils")):
        judged = [*items, *(item.proficiency_item for item in items if item.proficiency_item)]
        counts = _counts({item.pk: len(item.foils.all()) for item in judged})
        yield from (_with_votes(item, shared, counts) for item in items)
    renamed = _own_ids(project)
    for captions in _by_key(_captions(project), ("video",)):
        for caption in captions:
            id_, video = renamed.get(caption.pk, caption.key), video_record(caption.video)
            yield ItemRecord(id_, "", video, caption.text, facts=caption.facts)


def _own_ids(project: Project) -> dict[int, str]:
    """Return ids of captions whose key an item or an earlier caption has: a corrected caption has the key of the false
    one, whose items also exist.
    """
    items, captions = _items(project), _captions(project)
    twice = captions.order_by().values("key").annotate(n=Count("pk")).filter(n__gt=1).values("key")
    rows = captions.filter(Q(key__in=items.order_by().values("key")) | Q(key__in=twice))
    shared = list(rows.order_by("pk").values_list("pk", "key"))
    if not shared:
        return {}
    # Keys of captions have no index: a query for one reads all of them.
    numbered_keys = set(captions.filter(key__contains="~").values_list("key", flat=True))
    item_keys = set(items.filter(key__contains="~").values_list("key", flat=True))
    item_keys.update(items.filter(key__in=captions.order_by().values("key")).values_list("key", flat=True))
    ids_by_pk: dict[int, str] = {}
    assigned_ids: set[str] = set()
    for pk, key in shared:
        id_, number = key, 1
        while id_ in assigned_ids or id_ in item_keys or (id_ != key and id_ in numbered_keys):
            number += 1
            suffix = f"~{number}"
            id_ = key[: MAX_ID - len(suffix)] + suffix
        assigned_ids.add(id_)
        ids_by_pk[pk] = id_
    return ids_by_pk


def _by_key(rows: QuerySet[Any], joined: tuple[str, ...], fetched: tuple[str, ...] = ()) -> Iterator[list[Any]]:
    """Return the rows by key, a batch at a time. All keys are loaded once (8 bytes each): a query that continues behind
    the last key would sort all rows of a subtest again for every chunk.
    """
    keys = array("q", rows.values_list("pk", flat=True).order_by("pk").iterator(chunk_size=READ_KEYS))
    for start in range(0, len(keys), CHUNK):
        batch = rows.model._default_manager.filter(pk__in=keys[start : start + CHUNK].tolist())
        yield list(batch.select_related(*joined).prefetch_related(*fetched).order_by("pk"))


def _shared_keys(project: Project) -> frozenset[str]:
    """Return keys that occur in several subtests: ids of these items start with the name of their subtest."""
    twice = _items(project).order_by().values("key").annotate(n=Count("pk")).filter(n__gt=1)
    return frozenset(twice.values_list("key", flat=True))


def _with_votes(item: Item, shared: frozenset[str], counts: Mapping[int, VoteCounts]) -> ItemRecord:
    simpler = item.proficiency_item
    id_ = release_id(item.subtest.name, item.key) if item.key in shared else item.key
    pair_foils = list(simpler.foils.all()) if simpler else []
    record = plain_record(item, list(item.foils.all()), pair_foils, id_)
    pair = record.proficiency
    if pair is not None and simpler is not None:
        pair = replace(pair, votes=counts.get(simpler.pk))
    return replace(record, votes=counts.get(item.pk), proficiency=pair)
