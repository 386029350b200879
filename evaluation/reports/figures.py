"""Compute and store what pages show of the models of a release, so that no page of a large one computes it."""

from contextlib import suppress

from evaluation.analyses.registry import OF_SCORES
from evaluation.board.gaps import gaps_of
from evaluation.board.leaderboard import board
from evaluation.ladder.ladders import has_ladder, ladder_of_release, ladder_of_run
from evaluation.ladder.thought_pairs import thought_pairs
from evaluation.reports.reports import release_analysis
from evaluation.scoring.figures import complete_runs, mark_of, mark_stored
from evaluation.scoring.run_results import keep
from foilworks.core.corpus.models import Release
from foilworks.core.text.errors import ActionableError


def store_figures(release: Release) -> None:
    """Store the results of each run, the default board, the ladders, and each analysis with its defaults."""
    # Scores that come meanwhile make the figures incomplete again.
    mark = mark_of(release)
    for run in complete_runs(release):
        keep(run)
    board(release)
    gaps_of(release)
    ladder_of_release(release)
    thought_pairs(release)
    for run in complete_runs(release):
        if has_ladder(run):
            ladder_of_run(run)
    for kind in sorted(OF_SCORES):
        with suppress(ActionableError):
            release_analysis(release, kind)
    mark_stored(release, mark)
