"""Import raw votes of a past study for existing items, under the pseudonyms of the file.

They are stored as votes of an import (no person, no slot) and decide as such. Counts that came with the items are
replaced by the votes behind them. Items that are judged in this project do not change: their votes belong to people
with slots and leases.
"""

import hashlib
import hmac
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from annotation.actions.workflow.verdicts import flag_captions
from annotation.models import Choice, Stage, Task, Vote, VoteState
from annotation.queries.work_rules import rule_for_files
from annotation.rules.voting import is_unanimous, item_outcome, pair_verdict
from foilworks.core.corpus.models import Foil, Item
from foilworks.core.corpus.records import BadRecord, RecordWarning
from foilworks.core.corpus.release_records import release_id
from foilworks.core.corpus.rules.states import WITHDRAWN, FoilVerdict, ItemState, next_item_state
from foilworks.core.corpus.vote_records import VoteRecord
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import AuditEvent, Project, User
from foilworks.core.projects.pseudonyms import LENGTH
from foilworks.core.text.quoting import quoted
from foilworks.site.imports.batch import CHUNK, ImportResult, chunks, keys_behind
from foilworks.site.imports.survey import Progress, Source

DECIDED = frozenset({ItemState.VALID, ItemState.INVALID, ItemState.DISPUTED})
Line = tuple[str, int | None, str, bool | None]


@dataclass
class _Import:
    project: Project
    actor: User | None
    source: Source
    result: ImportResult
    update: bool
    events: list[AuditEvent] = field(default_factory=list)
    # Ids of items with different votes than before, and the caption of each.
    judged: dict[int, int] = field(default_factory=dict)

    def refuse(self, vote: VoteRecord, name: str, problem: str, fix: str) -> None:
        self.result.errors.append(str(BadRecord(f"{self.source.path}:{vote.line}", name, problem, fix)))


def read_votes(source: Source, result: ImportResult) -> dict[str, list[VoteRecord]]:
    """Read the good judgements of the file by the item that they name; problems are added to `result`."""
    votes_by_item: dict[str, list[VoteRecord]] = defaultdict(list)
    for outcome in source.outcomes():
        if isinstance(outcome, VoteRecord):
            votes_by_item[outcome.item].append(outcome)
        elif isinstance(outcome, RecordWarning):
            result.warnings.append(str(outcome))
        elif isinstance(outcome, BadRecord):
            result.errors.append(str(outcome))
    result.records = sum(map(len, votes_by_item.values())) + len(result.errors)
    return votes_by_item


@transaction.atomic
def store_votes(
    project: Project,
    actor: User | None,
    source: Source,
    votes: Mapping[str, list[VoteRecord]],
    result: ImportResult,
    *,
    update: bool,
    progress: Progress,
) -> None:
    """Store the votes of items without votes of people; with `update`, they replace other votes of files.

    One transaction, which the caller may roll back.
    """
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    work = _Import(project, actor, source, result, update)
    of_item = _by_item(work, votes)
    # In order of their ids, as all code locks items, and then captions.
    keys = sorted(of_item)
    for chunk in progress(chunks(keys), -(-len(keys) // CHUNK), "votes"):
        _store(work, {pk: of_item[pk] for pk in chunk})
    for chunk in chunks(sorted(work.judged, key=work.judged.__getitem__)):
        flag_captions({work.judged[pk] for pk in chunk}, chunk)
    counts = {"created": dict(result.created), "unchanged": dict(result.unchanged), "bad": len(result.errors)}
    details = {"format": result.format, **result.reader, "file": source.path.name, "changed": len(result.changes)}
    work.events.append(audit.event(project, actor, "evaluation.import_records", project, **details, **counts))
    audit.record_many(work.events)


def _store(work: _Import, votes: Mapping[int, list[VoteRecord]]) -> None:
    items = Item.objects.filter(pk__in=list(votes)).select_related("subtest", "caption").prefetch_related("foils")
    votes_by_item: dict[int, list[Vote]] = defaultdict(list)
    rows = Vote.objects.filter(item__in=list(votes)).exclude(state=VoteState.UNDONE)
    for vote in rows.select_related("foil"):
        votes_by_item[vote.item_id or 0].append(vote)
    tasks = Task.objects.filter(item__in=list(votes), stage=Stage.VALIDATION)
    judged = set(tasks.values_list("item_id", flat=True))
    judged |= {
        pk
        for pk, votes_of_item in votes_by_item.items()
        if any(vote.source == Vote.Source.PERSON for vote in votes_of_item)
    }
    for item in items.filter(pk__in=judged).order_by("pk"):
        problem = f"{quoted(item.key)} is judged in this project; it keeps the votes of its validators"
        work.refuse(votes[item.pk][0], "item", problem, "import the items into a separate project")
    for item in items.exclude(pk__in=judged).select_for_update(of=("self",), no_key=True).order_by("pk"):
        _store_item(work, item, votes[item.pk], votes_by_item[item.pk])


def _by_item(work: _Import, votes: Mapping[str, list[VoteRecord]]) -> dict[int, list[VoteRecord]]:
    """Return the votes by the row of their item, which a file names by its key, or by its subtest and key."""
    items_by_name: dict[str, list[int]] = defaultdict(list)
    requeued: dict[str, list[int]] = defaultdict(list)
    for keys in chunks(sorted({key for name in votes for key in keys_behind(name)})):
        rows = Item.objects.filter(subtest__project=work.project, key__in=keys).exclude(state=ItemState.RETRACTED)
        for pk, key, subtest, state in rows.values_list("pk", "key", "subtest__name", "state"):
            for name in {key, release_id(subtest, key)} & votes.keys():
                (requeued if state == ItemState.REQUEUED else items_by_name)[name].append(pk)
    for name in requeued.keys() - items_by_name.keys():
        items_by_name[name] = requeued[name]
    votes_by_row: dict[int, list[VoteRecord]] = defaultdict(list)
    for name, records in votes.items():
        if len(items_by_name[name]) == 1:
            votes_by_row[items_by_name[name][0]] += records
            continue
        problem, fix = f"there is no item {quoted(name)} in the project", "import the items first, or correct the id"
        if items_by_name[name]:
            problem, fix = f"{quoted(name)} is in {len(items_by_name[name])} subtests", "write it as subtest:id"
        for record in records:
            work.refuse(record, "item", problem, fix)
    return votes_by_row


def _store_item(work: _Import, item: Item, records: Sequence[VoteRecord], stored_votes: Sequence[Vote]) -> None:
    foils = list(item.foils.all())
    for record in records:
        if record.foil is not None and record.foil >= len(foils):
            problem = f"is {record.foil}, but the item has {len(foils)} foils"
            work.refuse(record, "foil", problem, "count them from 0")
            return
    if len({record.foil is None for record in records}) > 1:
        problem = "is given in some votes of the item and not in others"
        work.refuse(records[0], "foil", problem, "give the foil in all of them, or in none")
        return
    twice = [
        judged_twice
        for judged_twice, n in Counter((record.annotator, record.foil) for record in records).items()
        if n > 1
    ]
    if twice:
        problem = f"{quoted(twice[0][0])} judged {quoted(item.key)} twice, under two ids of the item"
        work.refuse(records[0], "annotator", problem, "keep one of the two")
        return
    new = [_line(work.project, record) for record in records]
    old = [(v.imported_as, v.foil.position if v.foil else None, v.choice, v.caption_first) for v in stored_votes]
    if Counter(new) == Counter(old):
        work.result.unchanged["votes"] += len(new)
        return
    if item.state in WITHDRAWN:
        problem = f"{quoted(item.key)} was retracted and keeps the votes that decided it"
        work.refuse(records[0], "item", problem, "remove these votes, or give the id of the item that replaced it")
        return
    replaces = bool(old) and not _matches_counts(old, new)
    if replaces:
        fields = {"votes": {"stored": _tally(old), "file": _tally(new)}}
        change = {"record": f"{work.source.path}:{records[0].line}", "id": item.key, "kind": "votes"}
        work.result.changes.append({**change, "fields": fields, "updated": work.update})
    if not replaces or work.update:
        _replace(work, item, foils, records)


def _line(project: Project, record: VoteRecord) -> Line:
    return _stored_name(project, record), record.foil, record.choice, record.caption_first


def _stored_name(project: Project, record: VoteRecord) -> str:
    """Return a pseudonym for accounts elsewhere, so that nobody can test accounts against it; counts have no name."""
    if record.is_nameless:
        return ""
    if not record.is_identity:
        return record.annotator
    message = f"imported:{project.pk}:{record.annotator}".encode()
    return "w-" + hmac.new(settings.DERIVATION_KEY.encode(), message, hashlib.sha256).hexdigest()[:LENGTH]


def _tally(lines: Iterable[Line]) -> dict[str, int]:
    return dict(Counter(choice for _name, _foil, choice, _place in lines))


def _matches_counts(old: Iterable[Line], new: Iterable[Line]) -> bool:
    """Report whether the stored rows are only counts, and equal to the counts of these votes."""
    if any(name for name, _foil, _choice, _place in old):
        return False
    three = [Counter(c if c in ("caption", "foil") else "other" for _n, _f, c, _p in lines) for lines in (old, new)]
    return three[0] == three[1]


def _replace(work: _Import, item: Item, foils: Sequence[Foil], records: Sequence[VoteRecord]) -> None:
    now = timezone.now()
    Vote.objects.filter(item=item, source=Vote.Source.IMPORT).delete()
    rows = [
        Vote(
            item=item,
            foil=None if record.foil is None else foils[record.foil],
            stage=Stage.VALIDATION,
            source=Vote.Source.IMPORT,
            import_index=index,
            imported_as=_stored_name(work.project, record),
            idempotency_key=f"import-{index}",
            choice=Choice(record.choice),
            caption_first=record.caption_first,
            seconds_spent=record.seconds,
        )
        for index, record in enumerate(records)
    ]
    Vote.objects.bulk_create(rows, batch_size=CHUNK)
    work.result.created["votes"] += len(rows)
    _decide(work, item, foils, records, now)


def _decide(work: _Import, item: Item, foils: Sequence[Foil], records: Sequence[VoteRecord], now: object) -> None:
    """Set verdicts and state by the votes, by legal moves with their audit rows."""
    rule = rule_for_files(item.subtest)
    counts: dict[int | None, Counter[str]] = defaultdict(Counter)
    for record in records:
        counts[record.foil][record.choice] += 1
    for position, foil in enumerate(foils):
        tally = counts[None] if None in counts else counts[position]
        foil.verdict = FoilVerdict.VALID if not rule.wanted else pair_verdict(tally, rule)
    Foil.objects.bulk_update(foils, ["verdict"])
    state = item_outcome([foil.verdict for foil in foils], rule)
    units = [tally for tally in counts.values() if tally]
    _move(work, item, state)
    decided = state != ItemState.IN_VALIDATION
    item.decided_at, item.unanimous = (now, is_unanimous(units)) if decided else (None, None)
    item.save(update_fields=["state", "decided_at", "unanimous"])
    work.judged[item.pk] = item.caption_id


def _move(work: _Import, item: Item, state: ItemState) -> None:
    was = ItemState(item.state)
    if was == state:
        return
    if was in DECIDED:
        _record(work, item, was, ItemState.IN_VALIDATION)
    if state != ItemState.IN_VALIDATION:
        _record(work, item, ItemState.IN_VALIDATION, next_item_state(ItemState.IN_VALIDATION, "vote", state))
    item.state = state


def _record(work: _Import, item: Item, was: ItemState, state: ItemState) -> None:
    reason = "votes of a file"
    work.events.append(
        audit.event(work.project, work.actor, "import_votes", item, from_state=was, to_state=state, reason=reason)
    )
