"""Compute boards when runs end; `evaluation.apps` loads this at the start of each process."""

from evaluation.scoring.finished import on_finished
from evaluation.scoring.models import Run


def _compute_board(run: Run) -> None:
    """Compute the default board in the worker, so that no visitor waits for the comparison of all pairs of models."""
    # Imported here, because numpy would add a sixth to the start of every command.
    from evaluation.board.leaderboard import board

    board(run.release)


on_finished(_compute_board)
