"""Read arrays of scores (`.npy`): (n, candidates) with the positive first, or similarities of the authors of RCAD.

Their matrix is (6N, N): row 6 q + k is the k-th of the six texts of the video in column q, the true one at k = 0; (N,
6N) is accepted as well. Only the shape distinguishes it from (n, candidates). So a table as narrow as a list of
candidates that could be either is refused until `layout` says which it is.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.score_files.json_records import fail

CANDIDATES = 6
AUTO_LAYOUT, CANDIDATES_LAYOUT, TEXTS_LAYOUT, VIDEOS_LAYOUT = "auto", "candidates", "texts-by-videos", "videos-by-texts"
LAYOUTS = {
    AUTO_LAYOUT: "detect from the shape",
    CANDIDATES_LAYOUT: "(n, candidates), the positive first",
    TEXTS_LAYOUT: "(6N, N), six texts of each video, the true one first",
    VIDEOS_LAYOUT: "(N, 6N)",
}


def rows_of_candidates(path: Path, layout: str = AUTO_LAYOUT) -> tuple[NDArray[np.float64], list[str]]:
    """Return (n, candidates) with the positive first, and notes on how the array was read.

    EvaluationError: an unknown shape, an ambiguous shape, a number that is not finite.
    """
    array = read_matrix(path)
    if array.ndim != 2 or array.shape[1] < 2 or not array.shape[0]:
        fail(path, None, "shape", f"is {array.shape}", "give (records, candidates), the positive in the first column")
    array_layout = _layout(path, array.shape) if layout == AUTO_LAYOUT else layout
    if array_layout == CANDIDATES_LAYOUT:
        scores = np.asarray(array, dtype=np.float64)
    else:
        texts = array if array_layout == TEXTS_LAYOUT else array.T
        videos = texts.shape[1]
        if texts.shape[0] != CANDIDATES * videos:
            fail(path, None, "shape", f"is {array.shape}", f"give {LAYOUTS[array_layout]}")
        own = np.arange(videos)[:, None]
        scores = np.asarray(texts[CANDIDATES * own + np.arange(CANDIDATES), own], dtype=np.float64)
    wrong = np.argwhere(~np.isfinite(scores))
    if len(wrong):
        row, column = (int(number) for number in wrong[0])
        fail(path, row + 1, f"scores[{column}]", f"is {scores[row, column]}", "give a finite number")
    reads = f"--layout {CANDIDATES_LAYOUT} reads one record per row"
    note = f"{path.name}: {array.shape} was read as {LAYOUTS[array_layout]}; {reads}"
    return scores, [note] if layout == AUTO_LAYOUT and array_layout != CANDIDATES_LAYOUT else []


def _layout(path: Path, shape: Sequence[int]) -> str:
    rows, columns = shape
    few = min(rows, columns) <= CANDIDATES
    if rows == CANDIDATES * columns or columns == CANDIDATES * rows:
        layout = TEXTS_LAYOUT if rows > columns else VIDEOS_LAYOUT
        if few:
            problem = f"{tuple(shape)} can be {rows} records of {columns} candidates, or {LAYOUTS[layout]}"
            fail(path, None, "shape", problem, f"say which: --layout {CANDIDATES_LAYOUT} or --layout {layout}")
        return layout
    if rows == columns and not few:
        problem = f"{tuple(shape)} is square: similarities of all texts and videos, not candidates of each record"
        fix = f"use retrieval or control, or say --layout {CANDIDATES_LAYOUT}"
        fail(path, None, "shape", problem, fix)
    return CANDIDATES_LAYOUT


def read_matrix(path: Path) -> NDArray[Any]:
    """Read a `.npy` of similarities, mapped into memory: rows texts, columns videos."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        fail(path, None, "file", f"cannot be read ({error.strerror or error})", "give a .npy file")
    except (ValueError, EOFError) as error:
        fail(path, None, "file", f"is not a plain .npy array ({error})", "write it with numpy.save, numbers only")
    if not isinstance(array, np.ndarray):
        # An archive of arrays, which numpy opens under any name and does not close.
        array.close()
        fail(path, None, "file", "is not a plain .npy array (an archive)", "write it with numpy.save, numbers only")
    if array.dtype.kind not in "fiu":
        fail(path, None, "dtype", "is not an array of numbers", "write it with numpy.save, numbers only")
    return array
