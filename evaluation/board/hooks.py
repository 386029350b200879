"""What the board does when runs end; `evaluation.apps` loads this at the start of each process."""

from evaluation.board.leaderboard import board
from evaluation.scoring.finished import on_finished

# Compute the default board in the worker, so that no visitor waits for the comparison of all pairs of models.
on_finished(lambda run: board(run.release))
