"""Collect a release with everything that belongs to it, as plain content for the exporters; a fixed number of queries.

The export also has the other items of the project, marked as such: the reports include items that validation rejected,
so anyone can recompute the reports from the export.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from annotation.models import Stage, Vote, VoteState
from evaluation.analyses.registry import BY_JOB, OF_SCORES, REPORTS
from evaluation.cached_results.cache import cached_by_fingerprint, digest
from evaluation.errors import EvaluationError
from evaluation.facts.comparable_votes import ComparedVotes
from evaluation.facts.stored_facts import found_valid
from evaluation.releases.holdback import held_clips, holdback_of
from evaluation.releases.models import ReleaseGate
from evaluation.releases.snapshot import frozen_items, item_name
from evaluation.releases.withheld import withheld_of
from evaluation.reports.pages import under_pseudonyms
from evaluation.reports.reports import project_report, stored_report
from evaluation.scoring.models import Run
from evaluation.scoring.queries import release_scores, run_results
from foilworks.core.corpus.models import Item, Release, ReleaseItem, Subtest, withdrawn_items
from foilworks.core.corpus.records import RecordContent, ReleaseContent, ReleaseScore, ReleaseVote, VoteCounts
from foilworks.core.corpus.release_records import canary_of, foil_counts, vote_counts
from foilworks.core.corpus.vote_records import name_of_imported
from foilworks.core.projects.models import Project
from foilworks.core.projects.pseudonyms import pseudonym
from foilworks.core.text.registry import load
from foilworks.site.documents.release_documents import own_tables, release_documents
from foilworks.site.exports.recomputed import RECOMPUTED, recomputed
from foilworks.site.exports.records import project_content, release_content
from foilworks.site.imports.survey import Progress, silent


@dataclass(frozen=True)
class _Member:
    """A record with its current row; None if the row no longer exists."""

    record: Mapping[str, Any]
    row: Item | None
    released: bool


def collect_release(release: Release, *, tables: bool = True) -> ReleaseContent:
    """Return what an exporter may write of the release. Votes are under pseudonyms, without names.

    `tables`: with the reports of the project, which take the longest (exporters say whether they use them).
    """
    withheld = withheld_of(release)
    members = _members(release)
    votes = _votes(release.project, members)
    shown = [_with_status(member) for member in members if member.record["id"] not in withheld]
    counts = vote_counts(votes, foil_counts(shown))
    records = [member.record for member in members if member.released]
    runs = _runs(release)
    content = ReleaseContent(
        project=release.project.slug,
        release=release.name,
        content_hash=release.shown_hash,
        created_at=release.created_at.isoformat(),
        items=tuple(_with_votes(record, counts) for record in shown),
        votes=tuple(votes),
        scores=tuple(score for run in runs for score in _scores(run, records)),
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


def _members(release: Release) -> list[_Member]:
    """Return the public records of the release, then the records of the project's other main items.

    Other items on clips with private items or on a taken-down video are left out; an item that was requeued before the
    takedown remains in that state.
    """
    main = Item.objects.filter(subtest__project=release.project, subtest__kind=Subtest.Kind.MAIN)
    loaded = main.select_related("subtest", "proficiency_item__subtest").prefetch_related("foils")
    rows = {item.pk: item for item in loaded}
    frozen = list(ReleaseItem.objects.filter(release=release, is_private=False).values_list("item_id", "record"))
    members = [_Member(record, rows.get(pk), released=True) for pk, record in frozen]
    rest = main.exclude(withdrawn_items()).exclude(released_as__release=release)
    rest = rest.exclude(video__in=held_clips(release.project))
    others = frozen_items(release.project, rest)
    return members + [_Member(one.record, rows.get(one.item.pk), released=False) for one in others]


def _with_status(member: _Member) -> dict[str, Any]:
    """Return the record with the result of validation."""
    record, row = dict(member.record), member.row
    record["released"] = member.released
    record["state"] = row.state if row else None
    foils = row.foils.all() if row else ()
    record["found_valid"] = found_valid(row, [foil.verdict for foil in foils]) if row else None
    record["unanimous"] = row.unanimous if row else None
    if row is not None and row.is_on_publishers_word:
        record["on_publishers_word"] = True
    record["verdicts"] = [{"position": foil.position, "text": foil.text, "verdict": foil.verdict} for foil in foils]
    return record


def _with_votes(record: dict[str, Any], counts: Mapping[str, VoteCounts]) -> dict[str, Any]:
    """Return the record with the counts of its votes, if they are about the item as a whole."""
    record["votes"] = _count_line(counts.get(record["id"]))
    pair = record["proficiency"]
    if pair is not None:
        record["proficiency"] = {**pair, "votes": _count_line(counts.get(pair["id"]))}
    return record


def _count_line(votes: VoteCounts | None) -> dict[str, int] | None:
    return None if votes is None else {"caption": votes.caption, "foil": votes.foil, "other": votes.other}


def _votes(project: Project, members: Sequence[_Member]) -> list[ReleaseVote]:
    """Return the judgements of the items and their proficiency items, without undone ones."""
    names: dict[int, tuple[str, str, str]] = {}
    for member in members:
        if member.row is None:
            continue
        names[member.row.pk] = (member.record["id"], member.record["subtest"], "main")
        pair = member.row.proficiency_item
        if pair is not None:
            frozen = member.record["proficiency"]
            names.setdefault(pair.pk, (frozen["id"] if frozen else item_name(pair), pair.subtest.name, "proficiency"))
    rows = Vote.objects.filter(item__subtest__project=project).exclude(state=VoteState.UNDONE)
    loaded = rows.select_related("person", "foil", "guideline__subtest", "item", "slot__task").order_by("pk")
    compared = ComparedVotes({subtest.pk: subtest for subtest in Subtest.objects.filter(project=project)})
    return [
        replace(_vote(project, vote, *names[vote.item_id]), compared=_is_compared(vote, compared))
        for vote in loaded
        if vote.item_id in names
    ]


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


def _scores(run: Run, records: Sequence[Mapping[str, Any]]) -> Iterable[ReleaseScore]:
    rows, _missing = release_scores(run, records)
    return rows


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
    tables = {kind: _from_content(release, kind, content) for kind in RECOMPUTED}
    tables |= {kind: _report(release.project, kind) for kind in REPORTS if kind not in OF_SCORES | RECOMPUTED.keys()}
    tables |= {"gate": content.gate, "models": [run_results(run) for run in runs] or None}
    tables |= own_tables(release, runs)
    return {name: table for name, table in tables.items() if table is not None}


def _report(project: Project, kind: str) -> dict[str, Any] | None:
    try:
        # Reports of jobs are taken as stored: an export loads no model library.
        data = stored_report(project, kind, None, {}).data if kind in BY_JOB else project_report(project, kind)
    except EvaluationError:  # no votes, no items: then there is no such table
        return None
    return None if data is None else under_pseudonyms(project, data)


def _from_content(release: Release, kind: str, content: ReleaseContent) -> Any:
    """Cache by what it follows from: the items with their states, and the votes."""
    version = load(REPORTS[kind]).VERSION if kind in REPORTS else "1"
    fingerprint = digest([kind, version, content.items, [vars(vote) for vote in content.votes]])

    def made() -> dict[str, Any]:
        return {"table": recomputed(kind, content.items, content.votes)}

    return cached_by_fingerprint(
        release.project, "exported", f"{release.pk}:{kind}", fingerprint, made, in_memory=False
    )["table"]


def export_content(
    exporter: ModuleType, project: Project, release: Release | None, progress: Progress = silent
) -> ReleaseContent | RecordContent:
    """Return the content of the release or, without one, of the project now. EvaluationError: the format needs a
    release.
    """
    if getattr(exporter, "TAKES_RECORDS", False):
        return release_content(release, progress) if release else project_content(project, progress)
    if release is None:
        raise EvaluationError("--release: this format needs a release; name one, or export jsonl")
    return collect_release(release, tables=exporter.USES_TABLES)
