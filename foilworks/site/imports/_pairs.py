"""Check that the two items of a pair fit: different clips, and the caption of each is the foil of the other."""

import json
from collections.abc import Iterator

from django.db.models import Count

from foilworks.core.corpus.models import Item
from foilworks.core.corpus.records import ItemRecord, RecordWarning
from foilworks.core.corpus.rules.states import WITHDRAWN
from foilworks.core.corpus.rules.two_clips import Half, fault, half_of_item, mismatch
from foilworks.core.text.quoting import quoted, shortened
from foilworks.site.imports.batch import MAX_NAMED, Batch, chunks

Clash = tuple[ItemRecord, str, str, str]
_FIX = "give two items, each with its own clip and with the other's caption as its only foil"


def check_pairs(batch: Batch) -> None:
    """Refuse items that do not fit the other item of their pair name: in the file before them, or stored."""
    paired = [(record, half) for record in batch.records if (half := half_of_item(record))]
    if paired:
        batch.result.halves += len(paired)
        stored_halves = {} if batch.is_first_import else _stored(batch, [record for record, _half in paired])
        batch.refuse(list(_clashes(batch, paired, stored_halves)))


def _clashes(
    batch: Batch, paired: list[tuple[ItemRecord, Half]], stored_halves: dict[tuple[str, str], dict[str, Half]]
) -> Iterator[Clash]:
    for record, half in paired:
        if problem := fault(half):
            yield record, "pair", problem, _FIX
            continue
        same_pair = {**stored_halves.get((record.subtest, record.pair), {}), **_in_file(batch, record, half)}
        same_pair.pop(record.id, None)
        problem = next(filter(None, (mismatch(half, half_in_pair) for half_in_pair in same_pair.values())), "")
        if len(same_pair) > 1:
            problem = "has two items already"
        if problem:
            other_ids = shortened(", ".join(sorted(same_pair)))
            yield record, "pair", f"{quoted(record.pair)} {problem} ({other_ids})", _FIX
            continue
        (batch.complete_pairs if same_pair else batch.single_pairs).add((record.subtest, record.pair))
        batch.result.pairs += bool(same_pair)


def _in_file(batch: Batch, record: ItemRecord, half: Half) -> dict[str, Half]:
    """Return the first item of the name in the file, and its second one for a third; note this one."""
    first_half: dict[str, Half] = {}
    plain = {"id": record.id, "clip": half.clip, "caption": half.caption, "foils": half.foils}
    for number in (1, 2):
        key = json.dumps(["two clips", number, record.subtest, record.pair])
        before = batch.seen.setdefault(key, json.dumps(plain))
        if before is None:
            break
        fields = json.loads(before)
        first_half[fields["id"]] = Half(half.place, fields["clip"], fields["caption"], tuple(fields["foils"]))
    return first_half


def _stored(batch: Batch, records: list[ItemRecord]) -> dict[tuple[str, str], dict[str, Half]]:
    """Return (subtest, pair) -> id -> stored half, without those that this chunk has itself."""
    own_ids = {(record.subtest, record.id) for record in records}
    halves_by_pair: dict[tuple[str, str], dict[str, Half]] = {}
    for names in chunks(sorted({record.pair for record in records})):
        rows = Item.objects.filter(subtest__project=batch.project, pair__gt="", pair__in=names)
        rows = rows.exclude(state__in=WITHDRAWN).select_related("subtest", "video", "caption")
        for item in rows.prefetch_related("foils"):
            pair_key = (item.subtest.name, item.pair)
            if (pair_key[0], item.key) not in own_ids:
                foils = tuple(foil.text for foil in item.foils.all())
                halves_by_pair.setdefault(pair_key, {})[item.key] = Half(
                    pair_key, item.video.version_of or item.video.key, item.caption.text, foils
                )
    return halves_by_pair


def warn_of_halves(batch: Batch) -> None:
    """Warn of pair names of which the project has only one item: releases leave it out."""
    if not batch.result.halves:
        return
    items = Item.objects.filter(subtest__project=batch.project, pair__gt="").exclude(state__in=WITHDRAWN)
    single = items.values("subtest", "pair").annotate(n=Count("pk")).filter(n=1)
    pairs = set(single.values_list("subtest__name", "pair"))
    if not batch.writes:
        pairs = (pairs | batch.single_pairs) - batch.complete_pairs
    names = [pair for _subtest, pair in sorted(pairs)]
    if names:
        listed_names = ", ".join(quoted(name) for name in names[:MAX_NAMED]) + (", …" if len(names) > MAX_NAMED else "")
        problem = (
            f"{len(names)} pairs have one item only ({listed_names}); import the other one, or releases leave it out"
        )
        batch.result.warnings.append(str(RecordWarning(str(batch.path), "pair", problem)))
