"""Check and describe the rungs that a run is asked to score, as its `params["ladder"]`."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import SEED
from evaluation.metrics.rungs import RUNGS, Ability, Rung
from evaluation.metrics.stress import STRESS
from evaluation.scoring.queries import records_of
from evaluation.scoring.rungs import CONTROLS, FRAMES_TRIED, LENDING, MAX_TRIED, USUAL, VERSION, other_clips
from foilworks.core.corpus.models import Release
from foilworks.core.hub.catalogue.registry import ENDPOINT
from foilworks.core.text.quoting import quoted

SCORE_FILE = "file"
READS_PROMPTS = ("vlm", ENDPOINT)
# What a run can score beside the full clip.
CHOICES = (*CONTROLS, *STRESS)


def ladder_params(
    release: Release,
    spec: str,
    tried: int = FRAMES_TRIED,
    looks: int = 1,
    *,
    names: Collection[str] = (),
    usual: bool = True,
) -> dict[str, Any]:
    """Return the rungs and stress tests of a model: those with `names`, and the `usual` rungs that it can have.

    A release of one source video has no other clip; of one frame, none is the best. EvaluationError: a score file, an
    unknown name, one that the model cannot have, or an unusable number of frames.
    """
    if spec.partition(":")[0] == SCORE_FILE:
        raise EvaluationError(
            _("A score file has scores of the whole clips only. Clear “Controls”, and import one file per rung.")
        )
    if not 1 <= tried <= MAX_TRIED or tried % 2 == 0:
        raise EvaluationError(
            f"the number of frames tried is {tried}; give an odd number from 1 to {MAX_TRIED}, so that the middle "
            "frame is among them"
        )
    check_names(spec, names)
    records = records_of(release)
    impossible = {rung for rung in LENDING if all(at is None for at in other_clips(records, SEED, RUNGS[rung].lender))}
    if tried == 1:
        # The only frame is the middle one.
        impossible |= {Rung.FIRST_FRAME, Rung.LAST_FRAME, Rung.BEST_FRAME}
    if named := impossible & set(names):
        why = _("The release has no other source video, or only one frame is tried. Leave these rungs out: %(names)s.")
        raise EvaluationError(why % {"names": ", ".join(sorted(named))})
    rungs = [rung for rung in ordered([*names, *(USUAL if usual else ())]) if rung not in impossible]
    params = {"rungs": rungs, "tried": tried, "seed": SEED, "version": VERSION}
    stress = [name for name in STRESS if name in names]
    return {**params, **({"looks": looks} if looks > 1 else {}), **({"stress": stress} if stress else {})}


def check_names(spec: str, names: Iterable[str]) -> None:
    """Raise EvaluationError for a name of no rung and no stress test, and for one that the model cannot have."""
    cannot = why_not(spec)
    for name in names:
        if name not in CHOICES:
            raise EvaluationError(f"rung {quoted(name)} is unknown; choose of: {', '.join(CHOICES)}")
        if name in cannot:
            raise EvaluationError(f"{name}: {cannot[name]}")


def why_not(spec: str) -> dict[str, str]:
    """Return the rungs and stress tests that a model cannot have, with the reason. Known without loading it."""
    slug, _colon, argument = spec.partition(":")
    mode = dict(parse_qsl(argument.partition("?")[2])).get("mode", "p_yes" if slug == ENDPOINT else "likelihood")
    reasons = {}
    for rung in CONTROLS:
        needs = RUNGS[rung].needs
        if needs == Ability.READS_PROMPTS and slug not in READS_PROMPTS:
            reasons[str(rung)] = _("%(slug)s reads no prompt, so it cannot be given subtitles. Leave this rung out.")
        if needs == Ability.HEARS and slug != ENDPOINT:
            reasons[str(rung)] = _("%(slug)s hears nothing: only models behind an endpoint do. Leave this rung out.")
    if slug not in READS_PROMPTS or mode != "p_yes":
        words = _("Stress tests ask for yes or no. Use an endpoint, or vlm, with mode=p_yes, or leave them out.")
        reasons |= dict.fromkeys(STRESS, words)
    return {name: words % {"slug": slug} if "%(" in words else words for name, words in reasons.items()}


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
