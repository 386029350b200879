"""Collect a release with everything that belongs to it, as plain content for the exporters; a fixed number of queries.

The export also has the other items of the project, marked as such: the reports include items that validation rejected,
so anyone can recompute the reports from the export.
"""

import sys
from array import array
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from django.db.models import QuerySet

from annotation.models import ObjectCheck, Stage, Vote, VoteState
from evaluation.analyses.registry import BY_JOB, OF_SCORES, REPORTS, STEPWISE
from evaluation.cached_results.cache import cached_by_fingerprint, digest, find_result
from evaluation.errors import EvaluationError
from evaluation.facts.comparable_votes import ComparedVotes
from evaluation.facts.stored_facts import found_valid
from evaluation.releases.holdback import held_clips, holdback_of
from evaluation.releases.models import ReleaseGate
from evaluation.releases.snapshot import frozen_items, item_name
from evaluation.releases.withheld import withheld_of
from evaluation.reports.pseudonyms import under_pseudonyms
from evaluation.reports.reports import about_of, project_report
from evaluation.scoring.model_cards import FIELDS, card_of
from evaluation.scoring.models import Run
from evaluation.scoring.queries import release_scores, run_results, scored_records
from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.export_formats.foilworks import score_line, score_of, vote_line, vote_of
from foilworks.core.corpus.export_formats.parts.folder import MANIFEST, write_manifest
from foilworks.core.corpus.export_formats.parts.released_items import manifest_facts
from foilworks.core.corpus.models import Foil, Item, Release, ReleaseItem, Subtest, withdrawn_items
from foilworks.core.corpus.records import (
    RecordContent,
    ReleaseContent,
    ReleaseScore,
    ReleaseVote,
    StoredRecords,
    VoteCounts,
)
from foilworks.core.corpus.release_documents import ReleaseDocuments
from foilworks.core.corpus.release_records import canary_of, foil_counts, vote_counts
from foilworks.core.corpus.vote_records import name_of_imported
from foilworks.core.projects.models import Project
from foilworks.core.projects.pseudonyms import pseudonym
from foilworks.core.text.batches import batched
from foilworks.core.text.registry import load
from foilworks.site.documents.release_documents import citation_of, own_tables, release_documents
from foilworks.site.exports.recomputed import RECOMPUTED, Evidence, recomputed
from foilworks.site.exports.records import project_content, release_content
from foilworks.site.exports.signature import sign_export
from foilworks.site.imports.batch import CHUNK
from foilworks.site.imports.survey import Progress, silent
from generation.filters.registry import SCREENING
from generation.models import FilterScore

# The rows without which a report is empty: then neither its analysis nor its facts are loaded.
ROWS_OF: dict[str, Callable[[Project], QuerySet[Any]]] = {
    "objects": lambda project: ObjectCheck.objects.filter(project=project),
    "screening": lambda project: FilterScore.objects.filter(run__project=project, filter=SCREENING),
}
# Item as exports name it, its subtest, main or proficiency.
_Name = tuple[str, str, str]


@dataclass(frozen=True)
class _Member:
    """A record with its current row and foils; None if the row no longer exists."""

    record: Mapping[str, Any]
    row: Item | None
    foils: Sequence[Mapping[str, Any]]
    released: bool


def collect_release(release: Release, *, tables: bool = True) -> ReleaseContent:
    """Return what an exporter may write of the release. Votes are under pseudonyms, without names.

    `tables`: with the reports of the project, which take the longest (exporters say whether they use them).
    """
    withheld, runs = withheld_of(release), _runs(release)
    names: dict[int, _Name] = {}
    counts: dict[str, VoteCounts] = {}
    records = _shown_records(release, withheld, names)
    items: StoredRecords[Mapping[str, Any]] = StoredRecords(records, load=partial(_with_votes, counts=counts))
    votes = StoredRecords(_votes(release.project, names), vote_line, vote_of)
    names.clear()
    counts |= vote_counts(votes, foil_counts(items))
    content = ReleaseContent(
        project=release.project.slug,
        release=release.name,
        content_hash=release.shown_hash,
        created_at=release.created_at.isoformat(),
        items=items,
        votes=votes,
        scores=StoredRecords(_scores(release, runs), score_line, score_of) if runs else (),
        simulated=release.project.is_simulated,
        gate=gate_of(release),
        withheld=tuple(withheld.values()),
        canary=canary_of(release.content_hash),
        holdback=holdback_of(release),
    )
    if not tables:
        return content
    content = replace(content, tables=_tables(release, runs, content))
    return replace(content, papers=release_documents(release, content))


def _shown_records(release: Release, withheld: Container[str], names: dict[int, _Name]) -> Iterator[Mapping[str, Any]]:
    """Yield the members with their status, except for withheld ones, and enter the names of all items in `names`."""
    for member in _members(release):
        _name(member, names)
        if member.record["id"] not in withheld:
            yield _with_status(member)


def _members(release: Release) -> Iterator[_Member]:
    """Yield the public records of the release, then the records of the project's other main items.

    Other items on clips with private items or on a taken-down video are left out; an item that was requeued before the
    takedown remains in that state.
    """
    frozen = ReleaseItem.objects.filter(release=release, is_private=False).order_by("position")
    for records in batched(frozen.values_list("item_id", "record").iterator(chunk_size=CHUNK), CHUNK):
        rows, foils = _rows(release.project, [pk for pk, _record in records])
        yield from (_Member(record, rows.get(pk), foils[pk], released=True) for pk, record in records)
    main = Item.objects.filter(subtest__project=release.project, subtest__kind=Subtest.Kind.MAIN)
    other_items = main.exclude(withdrawn_items()).exclude(released_as__release=release)
    other_items = other_items.exclude(video__in=held_clips(release.project))
    keys = array("q", other_items.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(keys), CHUNK):
        chunk = keys[start : start + CHUNK].tolist()
        rows, foils = _rows(release.project, chunk)
        for item in frozen_items(release.project, main.filter(pk__in=chunk)):
            yield _Member(item.record, rows[item.item_id], foils[item.item_id], released=False)


def _rows(
    project: Project, keys: Iterable[int | None]
) -> tuple[dict[int, Item], defaultdict[int | None, list[Mapping[str, Any]]]]:
    """Return the main items of these keys, and position, text and verdict of their foils. Two queries."""
    main = Item.objects.filter(subtest__project=project, subtest__kind=Subtest.Kind.MAIN)
    rows = main.filter(pk__in=[pk for pk in keys if pk is not None]).select_related(
        "subtest", "proficiency_item__subtest"
    )
    items, foils = rows.in_bulk(), defaultdict[int | None, list[Mapping[str, Any]]](list)
    # Rows of foils refer to their item and back: they would stay in memory after their chunk.
    for foil in Foil.objects.filter(item__in=items).values("item", "position", "text", "verdict"):
        foils[foil.pop("item")].append(foil)
    return items, foils


def _name(member: _Member, names: dict[int, _Name]) -> None:
    """Enter the names under which votes know the item and its proficiency item."""
    if member.row is None:
        return
    names[member.row.pk] = (member.record["id"], sys.intern(member.record["subtest"]), "main")
    pair = member.row.proficiency_item
    if pair is not None:
        frozen = member.record["proficiency"]
        names.setdefault(pair.pk, (frozen["id"] if frozen else item_name(pair), pair.subtest.name, "proficiency"))


def _with_status(member: _Member) -> dict[str, Any]:
    """Return the record with the result of validation."""
    record, row = dict(member.record), member.row
    record["released"] = member.released
    record["state"] = row.state if row else None
    record["found_valid"] = found_valid(row, [foil["verdict"] for foil in member.foils]) if row else None
    record["unanimous"] = row.unanimous if row else None
    if row is not None and row.is_on_publishers_word:
        record["on_publishers_word"] = True
    record["verdicts"] = list(member.foils)
    return record


def _with_votes(record: Mapping[str, Any], counts: Mapping[str, VoteCounts]) -> dict[str, Any]:
    """Return the record with the counts of its votes, if they are about the item as a whole."""
    pair = record["proficiency"]
    pair_with_votes = pair and {**pair, "votes": _count_line(counts.get(pair["id"]))}
    return {**record, "votes": _count_line(counts.get(record["id"])), "proficiency": pair_with_votes}


def _count_line(votes: VoteCounts | None) -> dict[str, int] | None:
    return None if votes is None else {"caption": votes.caption, "foil": votes.foil, "other": votes.other}


def _votes(project: Project, names: Mapping[int, _Name]) -> Iterator[ReleaseVote]:
    """Yield the judgements of the named items, without undone ones."""
    rows = Vote.objects.filter(item__subtest__project=project).exclude(state=VoteState.UNDONE)
    loaded = rows.select_related("person", "foil", "guideline__subtest", "item", "slot__task").order_by("pk")
    compared = ComparedVotes({subtest.pk: subtest for subtest in Subtest.objects.filter(project=project)})
    for vote in loaded.iterator(chunk_size=CHUNK):
        if vote.item_id in names:
            yield replace(_vote(project, vote, *names[vote.item_id]), compared=_is_compared(vote, compared))


def _is_compared(vote: Vote, compared: ComparedVotes) -> bool:
    if vote.state != VoteState.COUNTED or vote.stage != Stage.VALIDATION or vote.item is None:
        return True
    in_full = vote.slot.task.in_full if vote.slot else None
    return compared.counts(vote.item.subtest_id, vote.foil_id, vote.slot_id, in_full)


def _vote(project: Project, vote: Vote, item: str, subtest: str, kind: Any) -> ReleaseVote:
    person = vote.person
    of_file = name_of_imported(vote.imported_as, vote.import_index)
    return ReleaseVote(
        item=item,
        foil=vote.foil.position if vote.foil else None,
        annotator=pseudonym(project, person.pk) if person else of_file,
        choice=vote.choice,
        subtest=subtest,
        kind=kind,
        stage=vote.stage,
        caption_first=vote.caption_first,
        source=vote.source,
        simulated=person.is_simulated if person else False,
        state=vote.state,
        seconds=vote.seconds_spent,
        watch=vote.watch,
        guideline=vote.guideline.version if vote.guideline else None,
        guideline_of=vote.guideline.subtest.name if vote.guideline and vote.guideline.subtest else "",
    )


def _runs(release: Release) -> list[Run]:
    """Return the runs that stored scores; of several runs of one model under one protocol, the latest: they share
    scores.
    """
    latest: dict[tuple[str, str], Run] = {}
    for run in Run.objects.filter(release=release).exclude(model_key="").order_by("pk"):
        latest[run.model_key, run.protocol] = run
    return list(latest.values())


def _scores(release: Release, runs: Sequence[Run]) -> Iterator[ReleaseScore]:
    records = scored_records(release)
    for run in runs:
        yield from release_scores(run, records)[0]


def gate_of(release: Release) -> dict[str, Any] | None:
    """Return the gate's finding when the release was frozen; None for releases older than the gate."""
    gate = ReleaseGate.objects.filter(release=release).first()
    if gate is None:
        return None
    by = pseudonym(release.project, gate.overridden_by_id) if gate.overridden_by_id else "the operator"
    override = {"reason": gate.override, "by": by, "at": gate.created_at.isoformat()} if gate.override else None
    return {**gate.data, "override": override}


def _tables(release: Release, runs: Sequence[Run], content: ReleaseContent) -> dict[str, Any]:
    """Return every report with content, the gate's finding, results of models, people, pay and changes.

    Those of RECOMPUTED are made from what the export holds, so that anyone who has it can recompute them.
    """
    evidence = Evidence(content.items, content.votes)
    tables = {kind: _from_content(release, kind, content, evidence) for kind in RECOMPUTED}
    tables |= {kind: _report(release.project, kind) for kind in _exported_reports()}
    tables |= {"gate": content.gate, "models": [run_results(run) for run in runs] or None}
    tables |= own_tables(release, runs)
    return {name: table for name, table in tables.items() if table is not None}


def _exported_reports() -> list[str]:
    """Return the reports that are not made from the export's content: our own, so that a plug-in stops no export.

    A certificate is of the project's items, and a release has others: `foilworks audit --certify` reads its export.
    """
    left_out = OF_SCORES | STEPWISE | RECOMPUTED.keys()
    return [kind for kind, entry in REPORTS.items() if kind not in left_out and not entry.origin]


def _report(project: Project, kind: str) -> dict[str, Any] | None:
    if kind in BY_JOB:
        # Taken as stored: an export loads no model library.
        row = find_result(project, kind, about_of(kind, "", {}))
        return under_pseudonyms(project, row.data) if row is not None and row.fingerprint else None
    if kind in ROWS_OF and not ROWS_OF[kind](project).exists():
        return None
    try:
        return under_pseudonyms(project, project_report(project, kind))
    except EvaluationError:  # no votes, no items: then there is no such table
        return None


def _from_content(release: Release, kind: str, content: ReleaseContent, evidence: Evidence) -> Any:
    """Cache by what it follows from: the items with their states, and the votes."""
    version = load(REPORTS[kind]).VERSION if kind in REPORTS else "1"
    stored = [records.sha256 for records in (content.items, content.votes) if isinstance(records, StoredRecords)]
    return cached_by_fingerprint(
        release.project,
        "exported",
        f"{release.pk}:{kind}",
        digest([kind, version, *stored]),
        lambda: {"table": recomputed(kind, evidence)},
        in_memory=False,
    )["table"]


def export_content(
    exporter: ModuleType, project: Project, release: Release | None, progress: Progress = silent
) -> ReleaseContent | RecordContent:
    """Return the content of the release or, without one, of the project now. EvaluationError: the format needs a
    release.
    """
    uses_tables = getattr(exporter, "USES_TABLES", False)
    if getattr(exporter, "TAKES_RECORDS", not uses_tables):
        return release_content(release, progress) if release else project_content(project, progress)
    if release is None:
        raise EvaluationError("--release: this format needs a release; name one, or export jsonl")
    content = collect_release(release, tables=uses_tables)
    return _with_models(release, content) if getattr(exporter, "USES_MODELS", False) else content


def _with_models(release: Release, content: ReleaseContent) -> ReleaseContent:
    """Return the content with the results of its models, when each was scored and what its card says."""
    models = []
    for run in _runs(release):
        card = {name: str(value) for name in FIELDS if (value := getattr(card_of(run), name))}
        facts = {"harness": run.params.get("harness"), "card": card}
        scored_at = run.scored_at or release.created_at
        models.append({**run_results(run), **facts, "scored_at": scored_at.isoformat()})
    citation = ReleaseDocuments(citation=citation_of(release.project))
    return replace(content, tables={"models": models}, papers=citation)


def write_export(
    slug: str, exporter: ModuleType, content: ReleaseContent | RecordContent, out: Path, params: Mapping[str, Any]
) -> list[Path]:
    """Write the format `slug` into the folder `out`, signed; return the paths of its files.

    A plug-in may leave the manifest and the list of its files to us. CorpusError, or an OSError of a plug-in: it cannot
    be written there, or nothing was written.
    """
    written = exporter.write(content, out, params=params) or sorted(path for path in out.rglob("*") if path.is_file())
    if not written:
        raise CorpusError(f"the format '{slug}' wrote no file into {out}; correct its write()")
    if not (out / MANIFEST).is_file():
        n_items = len(content.records if isinstance(content, RecordContent) else content.items)
        write_manifest(out, manifest_facts(content, slug, n_items))
        written = [*written, out / MANIFEST]
    sign_export(out)
    return written
