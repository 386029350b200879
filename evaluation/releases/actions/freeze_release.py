"""Freeze a release: the valid items of a project as they are now, under the hash of their content."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from annotation.transactions import run_in_transaction
from corpus.models import Release, ReleaseItem
from corpus.release_records import hash_of, n_as_published
from evaluation.errors import EvaluationError
from evaluation.ladder.selection import runs_to_select_with, select
from evaluation.releases.balanced_items import balanced
from evaluation.releases.changelog import keep_changelog
from evaluation.releases.gate import GateFinding, inspect
from evaluation.releases.models import ReleaseGate
from evaluation.releases.snapshot import FrozenItem, valid_items
from evaluation.scoring.models import Run
from evaluation.utd.shortcuts import check_bar
from projects import audit
from projects.access import require_researcher
from projects.models import Project, User

MAX_NAME_LENGTH = 120
ROWS_PER_QUERY = 500
# Minimum length of an override's reason: readers of the datasheet must learn something from it.
MIN_REASON_LENGTH = 20


@dataclass(frozen=True)
class Content:
    """What a release freezes: its items, and what was left out, by subtest or by the evidence ladder."""

    frozen: list[FrozenItem]
    balanced: dict[str, dict[str, int]]
    needs: dict[str, Any] | None

    @property
    def records(self) -> list[dict[str, Any]]:
        return [one.record for one in self.frozen]


def freeze_release(
    person: User | None,
    project: Project,
    *,
    name: str = "",
    override: str = "",
    balance: Sequence[str] = (),
    needs: str = "",
    ladder_runs: Sequence[int] = (),
) -> Release:
    """Freeze all valid main items with their proficiency pairs. `person` None is the operator of the command line.

    The same content has the same hash: if it was frozen before, that release is returned and nothing is stored.
    `override`: the written reason to release despite the gate; it is in the audit log and in every export. `balance`:
    subtests that leave out items until no word distinguishes captions from foils; these items remain valid. `needs`:
    only items whose answer needs this, by the ladders of `ladder_runs` (evaluation.ladder.selection).
    AccessDenied without the researcher's role; EvaluationError: nothing is valid yet, the name is taken, the gate stops
    a subtest without an override, or objects alone answer more items than the project allows.
    """
    require_researcher(person, project)
    # Before anything is locked, because the classifier is slow. The result is cached by its content.
    runs = runs_to_select_with(project, ladder_runs) if needs else []
    inspect(project, _content(project, balance, needs, runs).records)
    reason = " ".join(override.split())
    return run_in_transaction(
        lambda: _freeze(person, project, name, reason, lambda: _content(project, balance, needs, runs))
    )


def _content(project: Project, balance: Sequence[str], needs: str, runs: Sequence[Run]) -> Content:
    """Return the valid items without those that the ladder, then the balance, leave out. EvaluationError: none is
    left."""
    frozen, chosen = valid_items(project), None
    if needs:
        chosen = select([one.record for one in frozen], needs, runs)
        frozen = [one for one in frozen if one.record["id"] in chosen.kept]
    if not frozen:
        raise EvaluationError(_("No valid item qualifies. Choose other items, or models with other scores."))
    left, offers = balanced(frozen, balance)
    counts = {each.name: {"n": each.n, "n_kept": each.n_kept} for each in offers}
    return Content(left, counts, chosen.as_json() if chosen else None)


def _freeze(person: User | None, project: Project, name: str, override: str, make: Callable[[], Content]) -> Release:
    # Two freezes of one project queue here, so that the second one finds the first. If an item that it contains
    # changes in the meantime, the freeze starts again.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    content = make()
    frozen, records = content.frozen, content.records
    content_hash = hash_of(records)
    known = Release.objects.filter(project=project, content_hash=content_hash).first()
    if known is not None:
        return known
    finding = inspect(project, records)
    _check_gate(finding, override)
    check_bar(project, {one.item.pk: (one.record["caption"], *one.record["foils"]) for one in frozen})
    release = Release.objects.create(
        project=project,
        name=_checked_name(project, name),
        content_hash=content_hash,
        n_items=len(frozen),
        n_as_published=n_as_published(records),
        created_by=person,
    )
    ReleaseItem.objects.bulk_create(_members(release, frozen), batch_size=ROWS_PER_QUERY)
    keep_changelog(release)
    _record_gate(person, release, finding, override, content)
    details = {"balanced": content.balanced, "name": release.name, "content_hash": content_hash, "n_items": len(frozen)}
    details |= {"n_as_published": release.n_as_published, **_needs(content)}
    audit.record(audit.event(project, person, "evaluation.freeze_release", release, **details))
    return release


def _check_gate(finding: GateFinding, override: str) -> None:
    if not finding.stopped:
        return
    if not override:
        ways = _("Balance the release, or give a written reason to release it anyway.")
        if not any(row["solved"] for row in finding.rows):
            ways = _("Fix these texts, or give a written reason to release them anyway.")
        raise EvaluationError(f"{finding.why()} {ways}")
    if len(override) < MIN_REASON_LENGTH:
        raise EvaluationError(
            _("Every export shows the reason. Write at least %(least)d characters.") % {"least": MIN_REASON_LENGTH}
        )


def _record_gate(person: User | None, release: Release, finding: GateFinding, override: str, content: Content) -> None:
    """Store the gate's finding with the release; an override counts only if something was stopped."""
    overridden = bool(finding.stopped)
    gate = ReleaseGate.objects.create(
        release=release,
        data={**finding.as_json(), "balanced": content.balanced, **_needs(content)},
        override=override if overridden else "",
        overridden_by=person if overridden else None,
    )
    if overridden:
        details = {"stopped": finding.stopped, "why": finding.why(), "override": override}
        event = audit.event(
            release.project, person, "evaluation.override_gate", gate, reason=override, release=release.pk, **details
        )
        audit.record(event)


def _needs(content: Content) -> dict[str, Any]:
    """Return by which ladder the items were selected; nothing if by none, as in older releases."""
    return {"needs": content.needs} if content.needs else {}


def _members(release: Release, frozen: list[FrozenItem]) -> list[ReleaseItem]:
    return [
        ReleaseItem(release=release, item=one.item, video=one.item.video, position=position, record=one.record)
        for position, one in enumerate(frozen)
    ]


def _checked_name(project: Project, name: str) -> str:
    taken = set(Release.objects.filter(project=project).values_list("name", flat=True))
    wanted = name.strip()
    if not wanted:
        number = len(taken) + 1
        while f"release {number}" in taken:
            number += 1
        return f"release {number}"
    if len(wanted) > MAX_NAME_LENGTH or not wanted.isprintable():
        raise EvaluationError(
            _("A release name can have at most %(most)d printable characters. Shorten it.") % {"most": MAX_NAME_LENGTH}
        )
    if wanted in taken:
        raise EvaluationError(
            _("A release '%(name)s' with different content already exists. Choose another name.") % {"name": wanted}
        )
    return wanted
