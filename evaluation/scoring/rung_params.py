"""Check and describe the rungs that a run is asked to score, as its `params["ladder"]`."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import SEED
from evaluation.scoring.queries import records_of
from evaluation.scoring.rungs import CONTROLS, FRAMES_TRIED, MAX_TRIED, VERSION, Rung, other_clips
from foilworks.core.corpus.models import Release
from foilworks.core.text.quoting import quoted

SCORE_FILE = "file"


def ladder_params(release: Release, slug: str, tried: int = FRAMES_TRIED, looks: int = 1) -> dict[str, Any]:
    """Return the rungs of a model. A release of one source video has no other clip; of one frame, none is the best.

    EvaluationError: a score file, or an unusable number of frames.
    """
    if slug == SCORE_FILE:
        raise EvaluationError(
            _("A score file has scores of the whole clips only. Clear “Controls”, and import one file per rung.")
        )
    if not 1 <= tried <= MAX_TRIED or tried % 2 == 0:
        raise EvaluationError(
            f"the number of frames tried is {tried}; give an odd number from 1 to {MAX_TRIED}, so that the middle "
            "frame is among them"
        )
    clip_indices = other_clips(records_of(release), SEED)
    left_out = set() if any(at is not None for at in clip_indices) else {Rung.OTHER_CLIP}
    if tried == 1:
        # The only frame is the middle one.
        left_out |= {Rung.FIRST_FRAME, Rung.BEST_FRAME}
    rungs = [rung for rung in CONTROLS if rung not in left_out]
    params = {"rungs": [rung.value for rung in rungs], "tried": tried, "seed": SEED, "version": VERSION}
    return {**params, "looks": looks} if looks > 1 else params


def files_of_rungs(slug: str, files: Mapping[str, Path]) -> dict[str, Any]:
    """Return the rungs that score files are read for. EvaluationError: an unknown rung, or a missing file."""
    if slug != SCORE_FILE:
        raise EvaluationError("a model scores the rungs itself; replace the files of rungs with --controls")
    for rung, path in files.items():
        check_rung(rung)
        if not path.is_file():
            raise EvaluationError(f"{path}: {rung}: there is no such score file; check the path")
    # A worker has a working folder of its own.
    stored = {rung: {"path": str(path.resolve())} for rung, path in files.items()}
    return {"rungs": ordered(files), "files": stored, "version": VERSION}


def check_rung(rung: str) -> None:
    """Raise EvaluationError for a name of no rung, and for the whole clip."""
    if rung not in CONTROLS:
        raise EvaluationError(f"rung {quoted(rung)} is unknown; choose one of: {', '.join(CONTROLS)}")


def ordered(rungs: Iterable[str]) -> list[str]:
    """Return the rungs from no clip up."""
    rung_names = set(rungs)
    return [rung.value for rung in CONTROLS if rung in rung_names]
