"""Store the items of an import with their foils, their proficiency items and the votes that the file counts."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from annotation.actions.workflow.verdicts import flag_captions
from annotation.models import Choice, Stage, Vote, VoteState
from annotation.queries.work_rules import rule_for_files
from annotation.rules.voting import caption_in_doubt, is_unanimous, item_outcome, pair_verdict
from foilworks.core.corpus.models import Caption, Foil, Item, Subtest
from foilworks.core.corpus.records import MAX_ID, ItemRecord, PairRecord, VoteCounts
from foilworks.core.corpus.rules.canonical import canonical_line
from foilworks.core.corpus.rules.states import WITHDRAWN, FoilVerdict, ItemState, first_item_state, next_item_state
from foilworks.core.projects.sql.bulk_writes import insert_many
from foilworks.site.imports._captions import fact_differences
from foilworks.site.imports._changes import delete_unused_clips, items_referred_to, lacks_mark, referred_to
from foilworks.site.imports._videos import label_differences
from foilworks.site.imports.batch import Batch, chunks, text_sha256

_HASHED = 16


class Tallies(NamedTuple):
    """Vote counts of an item: all of them, as its export has them, and those that a file counted."""

    all: Counter[str]
    of_file: Counter[str]


class PlannedItem(NamedTuple):
    """A new item: where it goes, the record with its clip, what it says, and what its votes decide.

    `is_decided`: by votes, not by its publisher.
    """

    subtest: Subtest
    key: str
    record: ItemRecord
    said: ItemRecord | PairRecord
    counts: dict[str, int]
    verdict: FoilVerdict
    state: ItemState
    is_decided: bool


def check_items(batch: Batch) -> None:
    """Note items that are stored under their id with different content; equal ones are not changed."""
    if batch.is_first_import and not batch.result.created["proficiency_items"]:
        return  # no two records of a file share an id
    records_by_key = {
        (batch.subtests[record.subtest].pk, record.id): record
        for record in batch.records
        if record.foils and record.subtest in batch.subtests
    }
    stored_items = _stored(records_by_key)
    votes = _votes_of(stored_items.values())
    # In the order of the file: the first record decides what several say about a clip.
    for stored_key, record in records_by_key.items():
        item = stored_items.get(stored_key)
        if item is None:
            continue
        batch.stored[record.id] = item
        batch.differs(record, _differences(batch, item, votes, record))
        if record.id not in batch.differences:
            batch.result.unchanged["items"] += 1


def store_pairs(batch: Batch, now: datetime) -> list[Item]:
    """Create the new proficiency items and return them; `batch.pairs` holds all."""
    record_by_key: dict[tuple[int, str], ItemRecord] = {}
    unchanged_pairs: dict[tuple[int, str], Item] = {}
    for record in batch.records:
        if record.foils and record.proficiency is not None and not _keeps_no_pair(batch, record):
            pair_key, stored_pair = _pair_place(batch, record), _kept_pair(batch, record)
            record_by_key.setdefault(pair_key, record)
            if stored_pair is not None:
                unchanged_pairs.setdefault(pair_key, stored_pair)
    batch.pairs = _stored(record_by_key) | unchanged_pairs
    batch.result.unchanged["proficiency_items"] += sum(
        batch.is_first("pair", *pair_key) for pair_key, item in batch.pairs.items() if not batch.made_now(item)
    )
    planned = []
    for pair_key, record in record_by_key.items():
        pair = record.proficiency
        # A check has not stored those of earlier chunks.
        is_new = pair_key not in batch.pairs and (batch.writes or batch.is_first("planned pair", *pair_key))
        if is_new and pair is not None:
            subtest = batch.subtests[record.subtest].proficiency_subtest
            planned.append(_plan(batch, subtest, record, pair_key[1], pair))
    batch.result.created["proficiency_items"] += len(planned)
    items = _save(batch, planned, now)
    batch.pairs.update({(item.subtest_id, item.key): item for item in items})
    return items


def store_items(batch: Batch, now: datetime) -> list[Item]:
    """Create the new main items, and return them."""
    record_by_key = {(batch.subtests[r.subtest].pk, r.id): r for r in batch.records if r.foils}
    # The check's result, unless a pair of this chunk may have taken one of the keys since.
    checked = {
        item_key: item for item_key, r in record_by_key.items() if isinstance(item := batch.stored.get(r.id), Item)
    }
    stored_items = _stored(record_by_key) if batch.pairs else checked
    planned = []
    for item_key, record in record_by_key.items():
        if item_key in stored_items and record.id not in batch.renewed:
            continue
        planned.append(_plan(batch, batch.subtests[record.subtest], record, record.id, record))
    batch.result.created["items"] += len(planned) - len(batch.renewed & {r.id for r in record_by_key.values()})
    batch.result.as_published += batch.as_published and sum(not plan.is_decided for plan in planned)
    if not batch.writes:
        return _save(batch, planned, now)
    renewed = [stored_items[item_key] for item_key, record in record_by_key.items() if record.id in batch.renewed]
    _delete(renewed)
    created = _save(batch, planned, now)
    pairs = _unused_pairs(renewed)
    _delete(pairs)
    _delete_left_behind(batch, [*renewed, *pairs])
    return created


def _delete(items: Sequence[Item]) -> None:
    """Delete items that the file replaces and nobody has worked on (_changes): their audit trail ends here."""
    for chunk in chunks([item.pk for item in items]):
        Item.objects.filter(pk__in=chunk).delete()
    # Their votes were deleted with them.
    for chunk in chunks(sorted({item.caption_id for item in items})):
        flag_captions(chunk)


def _unused_pairs(items: Sequence[Item]) -> list[Item]:
    """Return the proficiency items of deleted items that no item uses, and that nobody has worked on."""
    pairs = {item.proficiency_item_id: item.proficiency_item for item in items if item.proficiency_item}
    in_use = items_referred_to([pk for pk in pairs if pk], set())
    return [pair for pk, pair in pairs.items() if pk not in in_use]


def _delete_left_behind(batch: Batch, items: Sequence[Item]) -> None:
    """Delete unused captions that came with deleted items: an export would write them next to the item under one id.
    Then delete clips without a file that nothing uses.
    """
    captions = {item.caption_id: item.caption.key for item in items}
    clips = {item.video_id for item in items}
    in_use = referred_to(Caption, list(captions), set())
    unused = {pk: key for pk, key in captions.items() if pk not in in_use}
    of_items: set[str] = set()
    for keys in chunks(sorted(set(unused.values()))):
        rows = Item.objects.filter(subtest__project=batch.project, key__in=keys)
        of_items.update(rows.values_list("key", flat=True))
    for chunk in chunks([pk for pk, key in unused.items() if key in of_items]):
        Caption.objects.filter(pk__in=chunk).delete()
    delete_unused_clips(batch, clips)


def _pair_place(batch: Batch, record: ItemRecord) -> tuple[int, str]:
    """Return (subtest, key) of the record's proficiency item."""
    subtest_id = batch.subtests[record.subtest].proficiency_subtest_id
    assert subtest_id is not None  # store_subtests linked it, because this record has a pair
    return subtest_id, _pair_key(record)


def _keeps_no_pair(batch: Batch, record: ItemRecord) -> bool:
    """Report whether the stored item was retracted and its pair with it; any other item without a pair differs from the
    record.
    """
    item = batch.stored.get(record.id)
    return isinstance(item, Item) and item.proficiency_item_id is None and record.id not in batch.renewed


def _kept_pair(batch: Batch, record: ItemRecord) -> Item | None:
    """Return the stored item's pair if the record has the same one under any key: it may have been judged since."""
    item = batch.stored.get(record.id)
    if not isinstance(item, Item) or {"clip", "proficiency"} & batch.differences.get(record.id, {}).keys():
        return None
    return item.proficiency_item


def _pair_key(record: ItemRecord) -> str:
    """Return equal keys for equal pairs of a clip, in any file: they are one item."""
    pair = record.proficiency
    assert pair is not None
    votes = pair.votes and [pair.votes.caption, pair.votes.foil, pair.votes.other]
    content = {"caption": pair.caption, "foils": list(pair.foils), "votes": votes, "extra": dict(pair.extra)}
    digest = hashlib.sha256(canonical_line(content).encode("utf-8")).hexdigest()[:_HASHED]
    return f"{record.video.key[: MAX_ID - _HASHED - 1]}#{digest}"


def _plan(batch: Batch, subtest: Subtest, record: ItemRecord, key: str, pair: ItemRecord | PairRecord) -> PlannedItem:
    """Plan an item with the state that its votes decide; with too few votes, it waits for people, or is valid as
    published.
    """
    counts = _counts(pair.votes)
    decided_by = subtest.pk, *counts.values(), len(pair.foils)
    if decided_by not in batch.decisions:
        verdict = _verdict(subtest, counts)
        batch.decisions[decided_by] = verdict, _state(subtest, [verdict] * len(pair.foils))
    verdict, state = batch.decisions[decided_by]
    by_votes = bool(+Counter(counts)) and subtest.votes_wanted > 0 and state != ItemState.IN_VALIDATION
    on_word = batch.as_published and not by_votes
    if on_word:
        verdict, state = FoilVerdict.VALID, ItemState.VALID
    is_decided = state != ItemState.IN_VALIDATION and not on_word
    return PlannedItem(subtest, key, record, pair, counts, verdict, state, is_decided)


def _item(batch: Batch, plan: PlannedItem, now: datetime) -> Item:
    said, video = plan.said, batch.clip_of(plan.record)
    is_main = isinstance(said, ItemRecord)
    has_pair = is_main and plan.record.proficiency is not None
    return Item(
        project_id=batch.project.pk,
        subtest_id=plan.subtest.pk,
        video_id=video.pk,
        caption_id=batch.captions[video.pk, text_sha256(said.caption)].pk,
        key=plan.key,
        state=plan.state,
        extra=dict(said.extra),
        facts=dict(said.facts) if isinstance(said, ItemRecord) else None,
        pair=said.pair if isinstance(said, ItemRecord) else "",
        as_published=batch.as_published,
        decided_at=now if plan.is_decided else None,
        unanimous=is_unanimous([plan.counts]) if plan.counts and plan.is_decided else None,
        proficiency_item_id=batch.pairs[_pair_place(batch, plan.record)].pk if has_pair else None,
    )


def _counts(votes: VoteCounts | None) -> dict[str, int]:
    return {} if votes is None else {"caption": votes.caption, "foil": votes.foil, "other": votes.other}


def _verdict(subtest: Subtest, counts: dict[str, int]) -> FoilVerdict:
    """Apply the votes of a file to each foil, because they are about the item."""
    if not subtest.votes_wanted:
        return FoilVerdict.VALID
    return pair_verdict(counts, rule_for_files(subtest)) if counts else FoilVerdict.PENDING


def _state(subtest: Subtest, verdicts: Sequence[FoilVerdict]) -> ItemState:
    state = first_item_state(subtest.votes_wanted)
    if state == ItemState.IN_VALIDATION:
        state = next_item_state(state, "vote", item_outcome(verdicts, rule_for_files(subtest)))
    return state


def _save(batch: Batch, planned: Sequence[PlannedItem], now: datetime) -> list[Item]:
    """Count the new rows, store them unless this is a check, and return the items."""
    batch.result.created["foils"] += sum(len(plan.said.foils) for plan in planned)
    batch.result.created["votes"] += sum(sum(plan.counts.values()) for plan in planned)
    if not batch.writes:
        return []
    items = [_item(batch, plan, now) for plan in planned]
    insert_many(items, batch.started)
    pairs = list(zip(items, planned, strict=True))
    foils = [
        Foil(item_id=item.pk, position=position, text=text, text_sha256=text_sha256(text), verdict=plan.verdict)
        for item, plan in pairs
        for position, text in enumerate(plan.said.foils)
    ]
    insert_many(foils)
    insert_many([vote for item, plan in pairs if plan.said.votes for vote in _votes(item.pk, plan.said.votes)])
    _flag_doubted(pairs)
    return items


def _votes(item: int, counts: VoteCounts) -> Iterable[Vote]:
    choices = [Choice.CAPTION] * counts.caption + [Choice.FOIL] * counts.foil + [Choice.OTHER] * counts.other
    for index, choice in enumerate(choices):
        yield Vote(
            item_id=item,
            stage=Stage.VALIDATION,
            source=Vote.Source.IMPORT,
            import_index=index,
            idempotency_key=f"import-{index}",
            choice=choice,
            state=VoteState.COUNTED,
        )


def _flag_doubted(pairs: Sequence[tuple[Item, PlannedItem]]) -> None:
    """Flag captions that these items put in doubt; votes on one that is not in doubt remove no flag."""
    doubted = [item for item, plan in pairs if any(plan.counts.values()) and caption_in_doubt(plan.counts)]
    for chunk in chunks(doubted):
        flag_captions({item.caption_id for item in chunk}, [item.pk for item in chunk])


def _stored(pair_keys: Iterable[tuple[int, str]]) -> dict[tuple[int, str], Item]:
    """Return items that are stored under these (subtest, key), with what `_difference` compares."""
    keys: dict[int, list[str]] = {}
    for subtest_id, key in pair_keys:
        keys.setdefault(subtest_id, []).append(key)
    items_by_key = {}
    for subtest_id, keys_of_subtest in keys.items():
        for chunk in chunks(keys_of_subtest):
            rows = Item.objects.filter(subtest=subtest_id, key__in=chunk)
            rows = rows.select_related("video", "caption", "proficiency_item__caption")
            for item in rows.prefetch_related("foils", "proficiency_item__foils"):
                items_by_key[subtest_id, item.key] = item
    return items_by_key


def _differences(
    batch: Batch, item: Item, votes: Mapping[int, Tallies | None], record: ItemRecord
) -> dict[str, tuple[Any, Any]]:
    """Return how the stored item differs from the record: {field: (stored, of the record)}."""
    is_same = record.video.key in item.video.keys
    clip = (None, None) if is_same else (item.video.key, record.video.key)
    pairs = {"clip": clip, **_content(item, votes, record)}
    differences = {name: values for name, values in pairs.items() if values[0] != values[1]}
    simpler, pair = item.proficiency_item, record.proficiency
    # A pair that was retracted with its item is not linked any more.
    if pair is not None and simpler is None and item.state not in WITHDRAWN:
        differences["proficiency"] = (None, pair.caption)
    elif pair is not None and simpler is not None:
        pair_differences = [values for values in _content(simpler, votes, pair).values() if values[0] != values[1]]
        if pair_differences:
            differences["proficiency"] = pair_differences[0]
    if item.pair != record.pair:
        differences["pair"] = (item.pair, record.pair)
    if batch.as_published and any(lacks_mark(stored_item) for stored_item in (item, simpler)):
        differences["as_published"] = (False, True)
    if "clip" not in differences:
        differences |= label_differences(batch, record, item.video)
    return differences if "caption" in differences else {**differences, **_fact_differences(batch, item, record)}


def _content(
    item: Item, votes: Mapping[int, Tallies | None], record: ItemRecord | PairRecord
) -> dict[str, tuple[Any, Any]]:
    """Return (stored, of the record) for texts, extra fields and counts. A record without counts says nothing about
    votes; counts say nothing new about votes that a file gave one by one.
    """
    stored_tallies, counts = votes.get(item.pk, Tallies(Counter(), Counter())), +Counter(_counts(record.votes))
    differs = record.votes is not None and stored_tallies is not None and counts not in stored_tallies
    return {
        "caption": (item.caption.text, record.caption),
        "foils": ([foil.text for foil in item.foils.all()], list(record.foils)),
        "extra": (item.extra, dict(record.extra)),
        "votes": (dict(stored_tallies.all), dict(counts)) if differs and stored_tallies else (None, None),
    }


def _fact_differences(batch: Batch, item: Item, record: ItemRecord) -> dict[str, tuple[Any, Any]]:
    """Compare the facts of an item with its record. An item stored before items had facts gets them only by an
    update."""
    if item.facts is None and not batch.update:
        return fact_differences(item.caption, record)
    stored_facts, file_facts = item.known_facts, record.facts
    return {
        f"facts.{name}": (stored_facts.get(name), file_facts.get(name))
        for name in {**stored_facts, **file_facts}
        if name not in stored_facts or name not in file_facts or stored_facts[name] != file_facts[name]
    }


def _votes_of(items: Iterable[Item]) -> dict[int, Tallies | None]:
    """Return counted validation votes of the items and of their pairs; None if a file gave them one by one."""
    tallies_by_item: dict[int, Tallies | None] = {}
    keys = {pk for item in items for pk in (item.pk, item.proficiency_item_id) if pk}
    for chunk in chunks(sorted(keys)):
        rows = Vote.objects.filter(item__in=chunk, stage=Stage.VALIDATION, state=VoteState.COUNTED)
        for item_id, choice, name, source in rows.values_list("item_id", "choice", "imported_as", "source"):
            tallies = tallies_by_item.setdefault(item_id, Tallies(Counter(), Counter()))
            if name:
                tallies_by_item[item_id] = None
            elif tallies is not None:
                for tally in tallies if source == Vote.Source.IMPORT else (tallies.all,):
                    tally[choice if choice in (Choice.CAPTION, Choice.FOIL) else Choice.OTHER] += 1
    return tallies_by_item
