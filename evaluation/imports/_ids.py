"""Ids of an import's items. Releases put the subtest before them: `1` and `s:1` of the subtest `s` are one id there."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from corpus.models import Item, Subtest
from corpus.release_records import release_id
from evaluation.imports.batch import Batch, chunks


def settle_ids(batch: Batch) -> None:
    """Records that name a stored item as releases do get its key; refuse those that would share an id in releases."""
    named = {record.id: release_id(record.subtest, record.id) for record in batch.records if record.foils}
    batch.refuse(
        (record, "id", f"is {named[record.id][:80]!r} in releases, as that of another record", "give it its own id")
        for record in batch.records
        if record.foils and not batch.is_first("released", named[record.id])
    )
    if batch.is_first_import:
        return
    stored = _stored(batch, set(named.values()))
    clashes, settled = [], []
    for record in batch.records:
        keys = stored.get(named.get(record.id, ""), {})
        if keys and record.id not in keys.get(record.subtest, ()):
            if record.id != named[record.id] or record.subtest not in keys:
                problem = f"is {named[record.id][:80]!r} in releases, as that of another item"
                clashes.append((record, "id", problem, "give it its own id"))
            else:
                record = replace(record, id=keys[record.subtest][0])
        settled.append(record)
    batch.records = settled
    batch.refuse(clashes)


def _stored(batch: Batch, names: set[str]) -> dict[str, dict[str, list[str]]]:
    """Id in releases -> subtest -> the keys of the main items that have it."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for keys in chunks(sorted({key for name in names for key in keys_behind(name)})):
        rows = Item.objects.filter(subtest__project=batch.project, subtest__kind=Subtest.Kind.MAIN, key__in=keys)
        for subtest, key in rows.values_list("subtest__name", "key"):
            name = release_id(subtest, key)
            if name in names:
                found[name][subtest].append(key)
    return found


def keys_behind(name: str) -> Iterator[str]:
    """What the item's key may be: the name, or what follows a subtest, whose own name may have colons."""
    yield name
    for place, character in enumerate(name):
        if character == ":":
            yield name[place + 1 :]
