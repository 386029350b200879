"""List records that differ from their stored item or caption, and change these only if the import may.

What a file says *about* an item (extra fields, facts, labels of its clip) may always change. What people judge (clip,
texts, proficiency pair, counts) is replaced only if nothing but the import itself ever referred to the row: nobody
worked on it, no release froze it, no run used it. Retracted items remain retracted.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from django.db import models

from annotation.actions.settings.published_labels import mark_as_published
from annotation.models import Vote
from annotation.transactions import lock_rows
from foilworks.core.corpus.models import GIVEN_UP, Caption, Foil, Item, MediaState, Video
from foilworks.core.corpus.records import ItemRecord
from foilworks.core.corpus.rules.states import WITHDRAWN
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import AuditEvent, User
from foilworks.core.text.quoting import quoted
from foilworks.site.imports.batch import CHUNK, Batch, chunks, text_sha256

CONTENT = frozenset({"clip", "caption", "foils", "proficiency", "votes"})
MAX_SHOWN_LENGTH = 300


def list_changes(batch: Batch) -> None:
    """Name what differs; leave it out of the import, or replace it if the update requests and permits that."""
    records = {record.id: record for record in batch.records}
    # A record may have been dropped since: it is bad, or its clip differs.
    changed = {id_: records[id_] for id_ in batch.differences if id_ in records}
    taken_out = _retracted_ids(batch, changed) if batch.update else set()
    worked_on = (_ids_in_use(batch, changed) | taken_out) if batch.update else set()
    occupied = _taken_contents(batch, {id_: changed[id_] for id_ in changed.keys() - worked_on}) if batch.update else {}
    batch.refuse(
        (changed[id_], "caption", f"is already a caption of this clip, as {quoted(key)}", "remove the record")
        for id_, key in occupied.items()
    )
    batch.refuse(
        (record, "id", f"{quoted(id_)} was {change}, so its content cannot change", "give the record a different id")
        for id_, record in changed.items()
        if id_ in worked_on
        for change in ("retracted" if id_ in taken_out else "worked on",)
    )
    unchanged_ids = worked_on | occupied.keys()
    for id_, record in changed.items():
        batch.result.changes.append(
            {
                "record": batch.where(record),
                "id": id_,
                "kind": "item" if record.foils else "caption",
                "fields": {name: _value_pair(*values) for name, values in batch.differences[id_].items()},
                "updated": batch.update and id_ not in unchanged_ids,
            }
        )
    batch.renewed = {id_ for id_ in changed if id_ not in unchanged_ids and CONTENT & batch.differences[id_].keys()}
    if not batch.update:
        batch.leave_out(changed)


def _taken_contents(batch: Batch, changed: Mapping[str, ItemRecord]) -> dict[str, str]:
    """Map records to the id of another caption that has their text on the clip that they name."""
    content_by_id = {
        id_: (record.video.key, text_sha256(record.caption))
        for id_, record in changed.items()
        if isinstance(batch.stored[id_], Caption) and CONTENT & batch.differences[id_].keys()
    }
    moved_pks = {batch.stored[id_].pk for id_ in content_by_id}
    id_by_content: dict[tuple[str, str], str] = {}
    for chunk in chunks(sorted(set(content_by_id.values()))):
        clips, hashes = {clip for clip, _sha256 in chunk}, {sha256 for _clip, sha256 in chunk}
        rows = Caption.objects.filter(video__project=batch.project, video__key__in=clips, text_sha256__in=hashes)
        for pk, clip, sha256, key in rows.values_list("pk", "video__key", "text_sha256", "key"):
            if pk not in moved_pks:
                id_by_content[clip, sha256] = key
    occupied = {}
    for id_, content in content_by_id.items():
        if content in id_by_content:
            occupied[id_] = id_by_content[content]
        id_by_content.setdefault(content, id_)
    return occupied


def lock_changed(batch: Batch) -> None:
    """Lock items that will change before their clips and captions, in the same order as people who judge them."""
    if not batch.update:
        return
    rows = [row for row in batch.stored.values() if isinstance(row, Item)]
    changed = [row.pk for row in rows if row.key in batch.differences or row.facts is None]
    lock_rows(Item.objects.filter(pk__in=changed))


def store_changes(batch: Batch, actor: User | None) -> None:
    """Store the permitted changes, each with its audit row; replaced items are stored with the new ones."""
    if not batch.update:
        return
    _fill_missing_facts(batch)
    records = {record.id: record for record in batch.records if record.id in batch.differences}
    _store_labels(batch, records)
    _store_facts(batch, records)
    _store_captions(batch, records)
    _store_publishers_word(batch, actor, records)
    items = [row for id_ in records if isinstance(row := batch.stored[id_], Item) and id_ not in batch.renewed]
    for item in items:
        record = next(record for record in records.values() if batch.stored[record.id] is item)
        item.extra, item.pair = dict(record.extra), record.pair
    Item.objects.bulk_update(items, ["extra", "pair"], batch_size=CHUNK)
    audit.record_many(_event(batch, actor, id_) for id_ in records)


def strict_problem(batch: Batch) -> str:
    """Return why a strict import stores nothing, given records that differ from stored ones; "" if nothing does."""
    first = next((change for change in batch.result.changes if not change["updated"]), None)
    if first is None:
        return ""
    fields = ", ".join(first["fields"])
    return f"{first['record']}: id: {quoted(first['id'])} is stored with a different {fields}; import with --update"


def _retracted_ids(batch: Batch, changed: Mapping[str, ItemRecord]) -> set[str]:
    """Return ids of records that would restore what somebody retracted."""
    return {
        id_
        for id_, row in _with_other_content(batch, changed).items()
        if (row.state in WITHDRAWN if isinstance(row, Item) else row.doubt_settled in GIVEN_UP)
    }


def _with_other_content(batch: Batch, changed: Mapping[str, ItemRecord]) -> dict[str, Item | Caption]:
    return {id_: batch.stored[id_] for id_ in changed if CONTENT & batch.differences[id_].keys()}


def _ids_in_use(batch: Batch, changed: Mapping[str, ItemRecord]) -> set[str]:
    """Return ids of records whose content would change under somebody's work."""
    rows_by_id = _with_other_content(batch, changed)
    items = {id_: row.pk for id_, row in rows_by_id.items() if isinstance(row, Item)}
    captions = {id_: row.pk for id_, row in rows_by_id.items() if isinstance(row, Caption)}
    pks_in_use = items_referred_to(list(items.values()), {(Item, "proficiency_item")})
    used_captions = referred_to(Caption, list(captions.values()), set())
    used_captions |= {row.pk for row in rows_by_id.values() if isinstance(row, Caption) and row.revises_id}
    return {id_ for id_, pk in items.items() if pk in pks_in_use} | {
        id_ for id_, pk in captions.items() if pk in used_captions
    }


def items_referred_to(keys: list[int], own_relations: set[tuple[type[models.Model], str]]) -> set[int]:
    """Return the items that another row refers to, directly or by one of their foils."""
    of_foil = dict(Foil.objects.filter(item__in=keys).values_list("pk", "item_id"))
    pks_in_use = referred_to(Item, keys, {(Foil, "item"), *own_relations})
    return pks_in_use | {of_foil[pk] for pk in referred_to(Foil, list(of_foil), set())}


def clips_in_use(keys: list[int]) -> set[int]:
    """Return the clips that somebody worked with: one of their items or captions, or they themselves."""
    of_item: dict[int, int] = {}
    of_caption: dict[int, int] = {}
    for chunk in chunks(keys):
        of_item.update(Item.objects.filter(video__in=chunk).values_list("pk", "video_id"))
        of_caption.update(Caption.objects.filter(video__in=chunk).values_list("pk", "video_id"))
    items = items_referred_to(list(of_item), {(Item, "proficiency_item")})
    captions = referred_to(Caption, list(of_caption), {(Item, "caption")})
    clips = referred_to(Video, keys, {(Item, "video"), (Caption, "video")})
    return clips | {of_item[pk] for pk in items} | {of_caption[pk] for pk in captions}


def referred_to(
    model: type[models.Model], keys: list[int], own_relations: set[tuple[type[models.Model], str]]
) -> set[int]:
    """Return the rows that another row of any table refers to, except votes of files and `own_relations`."""
    pks_in_use: set[int] = set()
    for rows, name in referring(model, own_relations):
        for chunk in chunks(keys):
            pks_in_use.update(rows.filter(**{f"{name}__in": chunk}).values_list(name, flat=True))
    return pks_in_use


def referring(
    model: type[models.Model], own_relations: set[tuple[type[models.Model], str]]
) -> Iterator[tuple[models.QuerySet[Any], str]]:
    """Yield the rows of each table with a key to the model, and the name of that key; as in `referred_to`."""
    for relation in model._meta.get_fields(include_hidden=True):
        if not isinstance(relation, models.ManyToOneRel):
            continue
        table, name = relation.related_model, relation.field.name
        if (table, name) not in own_relations:
            rows = table._default_manager.all()
            yield (rows.exclude(source=Vote.Source.IMPORT) if table is Vote else rows), name


def _store_labels(batch: Batch, records: Mapping[str, ItemRecord]) -> None:
    changed: dict[int, Video] = {}
    names: set[str] = set()
    for id_, record in records.items():
        for field, (_stored, file_value) in batch.differences[id_].items():
            video = batch.videos.get(record.video.key)
            if not field.startswith("video.") or video is None or video.media_state == MediaState.TAKEN_DOWN:
                continue
            name = field.removeprefix("video.")
            setattr(video, name, file_value)
            changed[video.pk] = video
            names.add(name)
    if changed:
        Video.objects.bulk_update(changed.values(), sorted(names), batch_size=CHUNK)


def _fill_missing_facts(batch: Batch) -> None:
    """Give items that were stored before items had facts their own, even if their caption has the same today: it takes
    facts of later records. Nothing visible changes.
    """
    without = []
    for record in batch.records:
        stored_row = batch.stored.get(record.id)
        if isinstance(stored_row, Item) and stored_row.facts is None:
            stored_row.facts = dict(record.facts)
            without.append(stored_row)
    Item.objects.bulk_update(without, ["facts"], batch_size=CHUNK)


def _store_facts(batch: Batch, records: Mapping[str, ItemRecord]) -> None:
    """Store an item's facts from its record; methods read the caption's, which come from the record that created it."""
    items, captions = [], []
    for id_, record in records.items():
        if not any(name.startswith("facts.") for name in batch.differences[id_]):
            continue
        stored_row = batch.stored[id_]
        if isinstance(stored_row, Item):
            stored_row.facts = dict(record.facts)
            items.append(stored_row)
        caption = stored_row.caption if isinstance(stored_row, Item) else stored_row
        if caption.key == id_:
            caption.facts = {**caption.facts, **record.facts}
            captions.append(caption)
    Item.objects.bulk_update(items, ["facts"], batch_size=CHUNK)
    Caption.objects.bulk_update(captions, ["facts"], batch_size=CHUNK)


def _store_captions(batch: Batch, records: Mapping[str, ItemRecord]) -> None:
    """Update captions that need foils, and that no run has used, to the text and clip of the file."""
    renewed = [
        (record, row)
        for id_, record in records.items()
        if isinstance(row := batch.stored[id_], Caption) and id_ in batch.renewed
    ]
    rows = [row for _record, row in renewed]
    left_clips = {row.video_id for row in rows}
    # Captions may swap keys: each releases its key before another takes it.
    for row in rows:
        row.text_sha256 = f"moving {row.pk}"
    Caption.objects.bulk_update(rows, ["text_sha256"], batch_size=CHUNK)
    for record, row in renewed:
        row.video, row.text = batch.videos[record.video.key], record.caption
        row.text_sha256 = text_sha256(record.caption)
        batch.captions[row.video_id, row.text_sha256] = row
    Caption.objects.bulk_update(rows, ["video", "text", "text_sha256"], batch_size=CHUNK)
    delete_unused_clips(batch, left_clips)


def delete_unused_clips(batch: Batch, clips: set[int]) -> None:
    """Delete those of the clips that have no file and that nothing refers to."""
    in_use = referred_to(Video, sorted(clips), set()) | {video.pk for video in batch.videos.values()}
    for chunk in chunks(sorted(clips - in_use)):
        Video.objects.filter(pk__in=chunk, file="").delete()


def lacks_mark(item: Item | None) -> bool:
    """Report whether the item was imported before it was marked as part of a published set."""
    return item is not None and not item.as_published and item.state not in WITHDRAWN


def _store_publishers_word(batch: Batch, actor: User | None, records: Mapping[str, ItemRecord]) -> None:
    """Mark items of an earlier import of the set, and their pairs, as published; replaced ones are new rows."""
    changed = [batch.stored[id_] for id_ in records if "as_published" in batch.differences[id_]]
    items = [row for row in changed if isinstance(row, Item) and row.key not in batch.renewed]
    unmarked = {row.pk: row for item in items for row in (item, item.proficiency_item) if lacks_mark(row)}
    mark_as_published(batch.project, actor, list(unmarked.values()))


def _event(batch: Batch, actor: User | None, id_: str) -> AuditEvent:
    fields = {name: _value_pair(*values) for name, values in batch.differences[id_].items()}
    details = {"id": id_, "kind": batch.stored[id_]._meta.model_name, "fields": fields}
    return audit.event(batch.project, actor, "evaluation.update_record", batch.project, **details)


def _value_pair(stored_value: Any, file_value: Any) -> dict[str, Any]:
    return {"stored": _shorten(stored_value), "file": _shorten(file_value)}


def _shorten(value: Any) -> Any:
    """Return the value, or its truncated text if it is long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return value if len(text) <= MAX_SHOWN_LENGTH else text[:MAX_SHOWN_LENGTH] + "…"
