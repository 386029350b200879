"""List items by the ladder of a run, or of all models of a release."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.utils.translation import gettext as _

from evaluation.ladder.ladders import evidence_of, has_ladder, ladder_runs
from evaluation.ladder.wording import RUNG_LABELS
from evaluation.scoring.models import Run
from evaluation.scoring.run_results import axes_of, credits_of, item_ids_of, rungs_of
from evaluation.scoring.rungs import Rung
from foilworks.core.corpus.models import Release
from foilworks.core.projects.models import Project

NOT_SOLVED = "not "


@dataclass(frozen=True)
class Source:
    """Whose ladder a list goes by: one run, or all models of its release."""

    label: str
    run: Run
    is_release: bool = False

    @property
    def release(self) -> Release:
        return self.run.release

    def runs(self) -> Sequence[Run]:
        return ladder_runs(self.release) if self.is_release else [self.run]


def sources_of(project: Project) -> dict[str, Source]:
    """Return the ladders of a project by their value in an address: a run's number, or release-NUMBER. One query."""
    rows = Run.objects.filter(release__project=project).exclude(model_key="").filter(params__has_key="ladder")
    runs = [run for run in rows.select_related("release__project", "job").order_by("-pk") if has_ladder(run)]
    sources = {str(run.pk): Source(f"{run.label} · {run.release.name}", run) for run in runs}
    for run in {run.release_id: run for run in runs}.values():
        words = _("all models · %(release)s") % {"release": run.release.name}
        sources[f"release-{run.release_id}"] = Source(words, run, is_release=True)
    return sources


def rung_choices() -> list[tuple[str, str]]:
    """Return the filter's choices: solved at a rung, or not."""
    solved = [(rung.value, _("solved: %(rung)s") % {"rung": RUNG_LABELS[rung]}) for rung in Rung]
    return solved + [(f"{NOT_SOLVED}{rung}", _("not solved: %(rung)s") % {"rung": RUNG_LABELS[rung]}) for rung in Rung]


def items_at(source: Source, need: str = "", rung: str = "") -> list[int]:
    """Return ids of public items of the release that are supported for a need, and that a rung solves or not.

    At a rung, an item is solved if any of the models has full credit; it counts as not solved if none has, and at
    least one has a score.
    """
    axes, runs = axes_of(source.release), source.runs()
    fits = np.ones(len(axes.ids), dtype=bool)
    if need and runs:
        fits &= evidence_of(runs)[1].supported(need)
    if rung:
        target_rung = Rung(rung.removeprefix(NOT_SOLVED))
        scored = [credits_of(run, axes, target_rung).main for run in runs if target_rung in rungs_of(run)]
        is_scored, solved = np.zeros(len(fits), dtype=bool), np.zeros(len(fits), dtype=bool)
        for credit in scored:
            is_scored |= ~np.isnan(credit)
            solved |= credit >= 1.0
        fits &= is_scored & ~solved if rung.startswith(NOT_SOLVED) else solved
    return [pk for pk, fit in zip(item_ids_of(source.release), fits, strict=True) if fit and pk is not None]
