"""Freeze a release: the valid items of a project as they are now, under the hash of their content."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.utils.translation import gettext as _

from annotation.transactions import run_in_transaction
from evaluation.errors import EvaluationError
from evaluation.ladder.selection import runs_to_select_with, select
from evaluation.releases.balanced_items import balanced
from evaluation.releases.changelog import keep_changelog
from evaluation.releases.frozen import report_frozen
from evaluation.releases.gate import GateFinding, inspect
from evaluation.releases.holdback import check_share, private_ids
from evaluation.releases.models import ReleaseGate
from evaluation.releases.snapshot import FrozenItems, freeze_candidates, records_of, whole_items
from evaluation.scoring.models import Run
from evaluation.utd.shortcuts import check_bar
from foilworks.core.corpus.models import Release, ReleaseItem
from foilworks.core.corpus.records import StoredRecords
from foilworks.core.corpus.release_records import hash_of, n_as_published
from foilworks.core.projects.access import require_researcher
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, User
from foilworks.core.solver.solution import Selection
from foilworks.core.text.batches import batched

MAX_NAME_LENGTH = 120
ROWS_PER_QUERY = 500
# In a release's gate: halves of pairs that it leaves out.
HALVES = "halves_left_out"
# Minimum length of an override's reason: readers of the datasheet must learn something from it.
MIN_REASON_LENGTH = 20


@dataclass(frozen=True)
class ItemSelection:
    """Which of the valid items a release has, and which of them stay private.

    `balance`: subtests that leave out items until their texts do not tell the answers; these items remain valid.
    `needs`: only items whose answer needs this, by the ladders of `ladder_runs` (evaluation.ladder.selection).
    `holdback`: share of the items that stay private, drawn by `seed`; what earlier releases hold back stays private.
    """

    balance: Sequence[str] = ()
    holdback: float = 0.0
    seed: int = 0
    needs: str = ""
    ladder_runs: Sequence[int] = ()


def freezing_parameters(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a form, of the API or of a stored job as `freeze_release` takes them."""
    names = {"name", "override"}
    selection = ItemSelection(**{name: value for name, value in fields.items() if name not in names})
    return {**{name: fields[name] for name in names & fields.keys()}, "selection": selection}


@dataclass(frozen=True)
class FrozenContent:
    """What a release freezes: its items, and what was left out, by subtest or by the evidence ladder."""

    frozen: FrozenItems
    balanced: dict[str, dict[str, int]]
    needs: dict[str, Any] | None
    halves: list[str]
    selection: Selection | None

    @property
    def records(self) -> StoredRecords[dict[str, Any]]:
        return records_of(self.frozen)

    @property
    def left_out(self) -> dict[str, Any]:
        """Return what the release says of items that it leaves out; only if there are some, as in older releases."""
        needs = {"needs": self.needs} if self.needs else {}
        selection = {"selection": asdict(self.selection)} if self.selection else {}
        return {"balanced": self.balanced, **selection, **needs, **({HALVES: self.halves} if self.halves else {})}


def freeze_release(
    person: User | None,
    project: Project,
    *,
    name: str = "",
    override: str = "",
    selection: ItemSelection | None = None,
) -> Release:
    """Freeze all valid main items with their proficiency pairs. `person` None is the operator of the command line.

    The same content has the same hash: if it was frozen before, that release is returned and nothing is stored.
    `override`: the written reason to release despite the gate; it is in the audit log and in every export.
    `selection`: by default all items, none of them private.
    AccessDenied without the researcher's role; EvaluationError: nothing is valid yet, the name is taken, the gate stops
    a subtest without an override, objects alone answer more items than the project allows, or too few items were never
    public.
    """
    require_researcher(person, project)
    # Before anything is locked, because the classifier is slow. The result is cached by its content.
    items = selection or ItemSelection()
    runs = runs_to_select_with(project, items.ladder_runs) if items.needs else []
    _inspected(project, _content(project, items, runs))
    check_share(items.holdback)
    reason = " ".join(override.split())
    return run_in_transaction(
        lambda: _freeze(person, project, name, reason, lambda: _content(project, items, runs), items)
    )


def _content(project: Project, selection: ItemSelection, runs: Sequence[Run]) -> FrozenContent:
    """Return the valid items without those that the ladder, then the balance, leave out. Pairs of two clips stay whole.

    EvaluationError: none is left.
    """
    (frozen, halves), ladder_selection = freeze_candidates(project), None
    left_out = [record["id"] for record in records_of(halves)]
    if selection.needs:
        ladder_selection = select(records_of(frozen), selection.needs, runs)
        kept_ids = ladder_selection.kept
        frozen = frozen.where(lambda member: member.record["id"] in kept_ids)
        frozen, unpaired = whole_items(frozen) if frozen else (frozen, frozen)
        left_out += [record["id"] for record in records_of(unpaired)]
    if not frozen:
        raise EvaluationError(_("No valid item qualifies. Choose other items, or models with other scores."))
    remaining, offers, removal = balanced(project, frozen, selection.balance)
    counts = {row.name: {"n": row.n, "n_kept": row.n_kept} for row in offers}
    ladder = ladder_selection.as_json() if ladder_selection else None
    return FrozenContent(remaining, counts, ladder, left_out, removal)


def _inspected(project: Project, content: FrozenContent) -> GateFinding:
    return inspect(project, content.records, content.selection)


def _freeze(
    person: User | None,
    project: Project,
    name: str,
    override: str,
    make: Callable[[], FrozenContent],
    selection: ItemSelection,
) -> Release:
    # Two freezes of one project queue here, so that the second one finds the first. If an item that it contains
    # changes in the meantime, the freeze starts again.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    content = make()
    records = content.records
    content_hash = hash_of(records)
    existing = Release.objects.filter(project=project, content_hash=content_hash).first()
    if existing is not None:
        return _same_content(existing, selection)
    finding = _inspected(project, content)
    _check_gate(finding, override)
    private = private_ids(project, records, selection.holdback, selection.seed)
    # Sorting is stable: public items first.
    frozen = content.frozen.in_order(lambda member: member.record["id"] in private)
    public = records_of(frozen.at(range(len(frozen) - len(private))))
    check_bar(project, ((member.item_id, (member.record["caption"], *member.record["foils"])) for member in frozen))
    release = Release.objects.create(
        project=project,
        name=_checked_name(project, name),
        content_hash=content_hash,
        n_items=len(frozen),
        n_as_published=n_as_published(public),
        n_private=len(private),
        public_hash=hash_of(public) if private else "",
        created_by=person,
    )
    for members in batched(_members(release, frozen, private), ROWS_PER_QUERY):
        ReleaseItem.objects.bulk_create(members)
    keep_changelog(release)
    # Exports show the finding, which names words and texts.
    public_finding = inspect(project, public, content.selection) if private else finding
    _record_gate(person, release, finding, public_finding, override, content.left_out)
    details = {**content.left_out, "name": release.name, "content_hash": content_hash, "n_items": len(frozen)}
    details["n_as_published"] = release.n_as_published
    if private:
        details |= {"n_private": len(private), "holdback": selection.holdback, "seed": selection.seed}
    audit.record(audit.event(project, person, "evaluation.freeze_release", release, **details))
    report_frozen(release)
    return release


def _same_content(existing: Release, selection: ItemSelection) -> Release:
    if selection.holdback and not existing.n_private:
        raise EvaluationError(
            _("The release '%(name)s' has the same items, all public. Add items before you hold a part back.")
            % {"name": existing.name}
        )
    return existing


def _check_gate(finding: GateFinding, override: str) -> None:
    if not finding.stopped:
        return
    if not override:
        advice = _("Balance the release, or give a written reason to release it anyway.")
        if not any(row["solved"] for row in finding.rows):
            advice = _("Fix these texts, or give a written reason to release them anyway.")
        raise EvaluationError(f"{finding.why()} {advice}")
    if len(override) < MIN_REASON_LENGTH:
        raise EvaluationError(
            _("Every export shows the reason. Write at least %(least)d characters.") % {"least": MIN_REASON_LENGTH}
        )


def _record_gate(
    person: User | None,
    release: Release,
    finding: GateFinding,
    public_finding: GateFinding,
    override: str,
    left_out: dict[str, Any],
) -> None:
    """Store the gate's finding with the release; an override counts only if something was stopped.

    `shown`: the finding over the public items.
    """
    overridden = bool(finding.stopped)
    gate = ReleaseGate.objects.create(
        release=release,
        data={**public_finding.as_json(), **left_out},
        override=override if overridden else "",
        overridden_by=person if overridden else None,
    )
    if overridden:
        details = {"stopped": finding.stopped, "why": finding.why(), "override": override}
        event = audit.event(
            release.project, person, "evaluation.override_gate", gate, reason=override, release=release.pk, **details
        )
        audit.record(event)


def _members(release: Release, frozen: FrozenItems, private: Collection[str]) -> Iterator[ReleaseItem]:
    return (
        ReleaseItem(
            release=release,
            item_id=member.item_id,
            video_id=member.video_id,
            position=position,
            record=member.record,
            is_private=member.record["id"] in private,
        )
        for position, member in enumerate(frozen)
    )


def _checked_name(project: Project, name: str) -> str:
    taken_names = set(Release.objects.filter(project=project).values_list("name", flat=True))
    requested_name = name.strip()
    if not requested_name:
        number = len(taken_names) + 1
        while f"release {number}" in taken_names:
            number += 1
        return f"release {number}"
    if len(requested_name) > MAX_NAME_LENGTH or not requested_name.isprintable():
        raise EvaluationError(
            _("A release name can have at most %(most)d printable characters. Shorten it.") % {"most": MAX_NAME_LENGTH}
        )
    if requested_name in taken_names:
        raise EvaluationError(
            _("A release '%(name)s' with different content already exists. Choose another name.")
            % {"name": requested_name}
        )
    return requested_name
