"""Store the captions of an import: one row per text and clip, however many items use it."""

import json
from collections.abc import Iterator
from typing import Any

from foilworks.core.corpus.models import Caption
from foilworks.core.corpus.records import ItemRecord, RecordWarning
from foilworks.core.text.quoting import quoted
from foilworks.site.imports._videos import label_differences
from foilworks.site.imports.batch import Batch, chunks, text_sha256


def check_captions(batch: Batch) -> None:
    """Note captions that are stored under their id with a different text, clip or fact; equal ones are counted."""
    if batch.is_first_import:
        return  # no two records of a file share an id
    ids = [record.id for record in batch.records if not record.foils]
    captions_by_key: dict[str, list[Caption]] = {}
    for keys in chunks(ids):
        rows = Caption.objects.filter(video__project=batch.project, key__in=keys).select_related("video")
        for caption in rows.order_by("pk"):
            captions_by_key.setdefault(caption.key, []).append(caption)
    for record in batch.records:
        # A corrected caption has the key of its correction; the texts differ.
        of_key = captions_by_key.get(record.id, []) if not record.foils else []
        old = next((caption for caption in of_key if caption.text == record.caption), of_key[-1] if of_key else None)
        if old is not None:
            batch.differs(record, _differences(batch, old, record))
            batch.stored[record.id] = old


def _differences(batch: Batch, old: Caption, record: ItemRecord) -> dict[str, tuple[Any, Any]]:
    differences: dict[str, tuple[Any, Any]] = {}
    if old.text != record.caption:
        differences["caption"] = (old.text, record.caption)
    if record.video.key not in old.video.keys:
        differences["clip"] = (old.video.key, record.video.key)
    else:
        differences |= label_differences(batch, record, old.video)
    return {**differences, **fact_differences(old, record)}


def fact_differences(caption: Caption, record: ItemRecord) -> dict[str, tuple[Any, Any]]:
    """Compare facts of a caption with the record that created it; other records only share the caption."""
    facts = record.facts if caption.key == record.id else {}
    return {
        f"facts.{name}": (caption.facts.get(name), value)
        for name, value in facts.items()
        if name not in caption.facts or caption.facts[name] != value
    }


def store_captions(batch: Batch) -> None:
    """Create the new captions, of items and of their proficiency pairs; add facts that stored ones lack."""
    _load(batch)
    changed: dict[int, Caption] = {}
    new: dict[tuple[int, str], Caption] = {}
    for record, text, facts in _texts(batch.records):
        video = batch.clip_of(record)
        key = (video.pk, text_sha256(text))
        stored_caption = batch.captions.get(key)
        if stored_caption is None and not batch.writes:
            # Of a check, only the first id of each text is known.
            first_id = batch.seen.setdefault(json.dumps(["caption", *key]), record.id)
            _count_caption(batch, record, first_id or record.id, is_new=first_id is None)
            continue
        if stored_caption is None:
            caption = new.get(key)
            if caption is None:
                caption = Caption(video_id=video.pk, key=record.id, text=text, text_sha256=key[1])
                new[key] = caption
            caption.facts = {**facts, **caption.facts}
        elif not facts.keys() <= stored_caption.facts.keys():
            stored_caption.facts = {**facts, **stored_caption.facts}
            changed[stored_caption.pk] = stored_caption
        _count_caption(batch, record, (stored_caption or new[key]).key, is_new=stored_caption is None)
    batch.update_rows(changed.values(), ["facts"])
    batch.insert(captions := list(new.values()), batch.started)
    for caption in captions:
        batch.captions[caption.video_id, caption.text_sha256] = caption


def _texts(records: list[ItemRecord]) -> Iterator[tuple[ItemRecord, str, dict]]:
    for record in records:
        if record.caption:
            yield record, record.caption, dict(record.facts)
        if record.proficiency is not None:
            yield record, record.proficiency.caption, {}


def _count_caption(batch: Batch, record: ItemRecord, stored_id: str, *, is_new: bool) -> None:
    """Count a record without foils as a caption; it may repeat that of `stored_id`."""
    if record.foils or record.id in batch.differences:
        return
    if is_new and stored_id == record.id:
        batch.result.created["captions"] += 1
        return
    batch.result.unchanged["captions"] += 1
    if stored_id != record.id:
        problem = f"is already stored for this clip, as {quoted(stored_id)}; it is stored once"
        batch.result.warnings.append(str(RecordWarning(batch.where(record), "caption", problem)))


def _load(batch: Batch) -> None:
    # A clip of this chunk has no captions yet.
    clips = {video.pk for record in batch.records if (video := batch.clip_of(record)).key not in batch.new_clips}
    for videos in chunks(sorted(clips)):
        for caption in Caption.objects.filter(video__in=videos):
            batch.captions[caption.video_id, caption.text_sha256] = caption
