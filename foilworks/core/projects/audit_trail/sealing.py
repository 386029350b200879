"""Seal the audit trail in batches, so that a later change of a row shows.

A batch is a Merkle tree of its rows (RFC 6962). Its root includes the root of the batch before, so the newest root
stands for all sealed rows. Reason and details enter as a salted commitment. An erasure keeps the
commitment and destroys the salt, so the roots stay valid and nobody can guess the erased text.
"""

import hashlib
import json
import logging
import secrets
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from itertools import pairwise
from typing import Any

from django.db import connection, transaction
from django.db.models import Max, Q

from foilworks.core.projects.models import AuditEvent, AuditSeal
from foilworks.core.text.quoting import quoted

logger = logging.getLogger(__name__)

BATCH_ROWS = 2000
# A transaction may commit rows with lower numbers than those sealed meanwhile: gaps of so many batches are read again.
RECENT_BATCHES, MAX_GAPS = 200, 100
SEALS_PER_QUERY = 20
HASH_BYTES = 32
ERASURE = "erase_person"
LOCK = 0x5EA1


@dataclass
class TrailCheck:
    """What a comparison of rows and seals found; `root` is the newest, `difference` the first row or batch."""

    n_rows: int = 0
    n_erased: int = 0
    n_waiting: int = 0
    root: str = ""
    roots: set[str] = field(default_factory=set)
    difference: str = ""


def seal_due() -> int:
    """Seal the rows that no batch has, and return how many. Any number of processes may call it at once."""
    n_sealed = 0
    while n_rows := _seal_batch():
        n_sealed += n_rows
    return n_sealed


def _seal_batch() -> int:
    with transaction.atomic():
        lock_trail()
        rows = _unsealed()
        if not rows:
            return 0
        last = AuditSeal.objects.order_by("-pk").first()
        salts = [secrets.token_bytes(HASH_BYTES) for _ in rows]
        previous = last.root if last else ""
        leaves = [_leaf(row, _commitment(salt, row)) for row, salt in zip(rows, salts, strict=True)]
        seal = AuditSeal.objects.create(
            ranges=_ranges([row.pk for row in rows]),
            last_event=max(rows[-1].pk, last.last_event if last else 0),
            openings=b"".join(salts),
            previous=previous,
            root=_chained(previous, leaves),
        )
    # An operator who ships logs has the roots where nobody with access to the database can change them.
    logger.info("sealed %s", seal)
    return len(rows)


def lock_trail() -> None:
    """Let nobody else seal or erase audit rows until this transaction ends; on SQLite, a write is alone anyway."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])


def _unsealed() -> list[AuditEvent]:
    """Return the first rows that no batch has, in the order of their numbers."""
    recent = AuditSeal.objects.order_by("-pk").values_list("last_event", "ranges")[: RECENT_BATCHES + 1]
    batches = list(recent)
    floor = batches[-1][0] if len(batches) > RECENT_BATCHES else 0
    sealed = [(start, end) for _last, ranges in batches for start, end in ranges if start > floor]
    gaps = [(before + 1, start - 1) for (_, before), (start, _) in pairwise([(floor, floor), *sorted(sealed)])]
    is_unsealed = Q(pk__gt=batches[0][0] if batches else 0)
    for gap in [(start, end) for start, end in gaps if start <= end][-MAX_GAPS:]:
        is_unsealed |= Q(pk__range=gap)
    return list(AuditEvent.objects.filter(is_unsealed).order_by("pk")[:BATCH_ROWS])


def _ranges(numbers: Sequence[int]) -> list[tuple[int, int]]:
    ends = [before for before, number in pairwise(numbers) if number != before + 1]
    starts = [number for before, number in pairwise(numbers) if number != before + 1]
    return list(zip([numbers[0], *starts], [*ends, numbers[-1]], strict=True))


def _commitment(salt: bytes, row: AuditEvent) -> bytes:
    return hashlib.sha256(salt + json.dumps([row.reason, row.details], sort_keys=True).encode()).digest()


def _leaf(row: AuditEvent, commitment: bytes) -> bytes:
    facts = (row.pk, row.project_id, row.actor_id, row.action, row.target_type, row.target_id)
    content = [*facts, row.from_state, row.to_state, row.at.astimezone(UTC).isoformat(), commitment.hex()]
    return hashlib.sha256(b"\0" + json.dumps(content).encode()).digest()


def _chained(previous: str, leaves: list[bytes]) -> str:
    nodes = leaves
    while len(nodes) > 1:
        # A node without a partner moves up as it is.
        unpaired = nodes[-1:] if len(nodes) % 2 else []
        pairs = zip(nodes[::2], nodes[1::2], strict=False)
        nodes = [hashlib.sha256(b"\1" + left + right).digest() for left, right in pairs] + unpaired
    return hashlib.sha256(bytes.fromhex(previous) + nodes[0]).hexdigest()


def withhold(numbers: Collection[int]) -> None:
    """Keep the commitments of these rows and destroy their salts. Call it after `lock_trail`, before texts change."""
    seals = AuditSeal.objects.filter(last_event__gte=min(numbers, default=0)).order_by("pk") if numbers else ()
    for seal in seals:
        sealed = _numbers(seal)
        erased = sorted(set(numbers) & set(sealed) - set(seal.erased))
        openings, places = bytearray(seal.openings), {number: place for place, number in enumerate(sealed)}
        for row in AuditEvent.objects.filter(pk__in=erased):
            part = slice(places[row.pk] * HASH_BYTES, (places[row.pk] + 1) * HASH_BYTES)
            openings[part] = _commitment(bytes(openings[part]), row)
        if erased:
            AuditSeal.objects.filter(pk=seal.pk).update(openings=bytes(openings), erased=[*seal.erased, *erased])


def _numbers(seal: AuditSeal) -> list[int]:
    return [number for start, end in seal.ranges for number in range(start, end + 1)]


def check_trail() -> TrailCheck:
    """Compare all sealed rows with their seals."""
    check, last = TrailCheck(), AuditSeal.objects.aggregate(last=Max("last_event"))["last"] or 0
    check.n_waiting = AuditEvent.objects.filter(pk__gt=last).count()
    erasures = AuditEvent.objects.filter(action=ERASURE).values_list("details", flat=True)
    named = {number for details in erasures for number in details.get("rows", ())}
    check.difference = next(_differences(check, named), "")
    n_added = AuditEvent.objects.filter(pk__lte=last).count() - check.n_rows
    if not check.difference and n_added:
        check.difference = f"{n_added} audit rows up to number {last} are in no seal: they were added later"
    return check


def verify_trail(expected: str = "") -> dict[str, Any]:
    """Return {"ok", "root", "rows", "erased", "waiting"} or {"ok": False, "difference"}.

    `expected`: a root that was noted elsewhere. Without it, nobody notices if rows and seals were replaced together.
    """
    check = check_trail()
    if expected and expected not in check.roots:
        check.difference = (
            check.difference or f"no seal has the root {quoted(expected)}: seals were removed or replaced"
        )
    if check.difference:
        return {"ok": False, "difference": check.difference}
    counts = {"rows": check.n_rows, "erased": check.n_erased, "waiting": check.n_waiting}
    return {"ok": True, "root": check.root, **counts}


def _differences(check: TrailCheck, named: Collection[int]) -> Iterator[str]:
    last_seal = AuditSeal.objects.aggregate(last=Max("pk"))["last"] or 0
    for start in range(0, last_seal, SEALS_PER_QUERY):
        seals = list(AuditSeal.objects.filter(pk__range=(start + 1, start + SEALS_PER_QUERY)).order_by("pk"))
        numbers = sorted(number for seal in seals for number in _numbers(seal))
        is_sealed = Q(pk=None)
        for bounds in _ranges(numbers) if numbers else ():
            is_sealed |= Q(pk__range=bounds)
        rows = {row.pk: row for row in AuditEvent.objects.filter(is_sealed)}
        if missing := set(numbers) - rows.keys():
            yield f"audit row {min(missing)} was deleted"
            return
        for seal in seals:
            yield from _differences_of(seal, [rows[number] for number in _numbers(seal)], check, named)


def _differences_of(
    seal: AuditSeal, rows: list[AuditEvent], check: TrailCheck, named: Collection[int]
) -> Iterator[str]:
    erased, stored = set(seal.erased), bytes(seal.openings)
    if unnamed := erased - set(named):
        yield f"audit row {min(unnamed)} counts as erased, but no erasure names it"
    parts = [stored[place : place + HASH_BYTES] for place in range(0, len(stored), HASH_BYTES)]
    pairs = zip(rows, parts, strict=False)
    leaves = [_leaf(row, part if row.pk in erased else _commitment(part, row)) for row, part in pairs]
    if (seal.previous, _chained(seal.previous, leaves)) != (check.root, seal.root):
        yield f"audit rows {rows[0].pk} to {rows[-1].pk}, or their seal, were changed: the root differs"
    check.n_rows, check.n_erased = check.n_rows + len(rows), check.n_erased + len(erased)
    check.root = seal.root
    check.roots.add(seal.root)
