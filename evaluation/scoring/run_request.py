"""What a person asks of a scoring run: model, protocol, device and what else is measured, checked and stored.

The form of the page, the API and the command fill a `RunRequest`; the action `start_run` stores the run.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.metrics.control import CANDIDATES
from evaluation.metrics.intervals import SEED
from evaluation.scoring.protocols import PROTOCOLS
from evaluation.scoring.queries import control_texts, records_of
from evaluation.scoring.rung_params import files_of_rungs, ladder_params
from evaluation.scoring.rungs import FRAMES_TRIED
from evaluation.scoring.served.specs import served_spec
from evaluation.scoring.standard_results import STANDARD
from foilworks.core.corpus.models import Release
from foilworks.core.hub.catalogue.registry import ENDPOINT, SCORE_FILE
from foilworks.core.hub.catalogue.specs import parse_spec
from foilworks.core.projects.models import Project
from foilworks.core.text.quoting import quoted
from generation.instruction_models.endpoints import endpoint_and_model
from generation.model_paths import absolute_argument, absolute_path

# Adapters whose only argument is a path.
RUNS_OR_READS = frozenset({SCORE_FILE, "external"})
DEVICE = re.compile(r"auto|cpu|cuda(:\d+)?")
# `auto`: the run's first job chooses and stores its choice, so that every host of the run uses the same.
DTYPES = ("auto", "float32", "bfloat16", "float16")
COST = "cost"
BUDGET = ("requests", "tokens", COST)
MAX_SPEC_LENGTH, MAX_LABEL_LENGTH = 500, 120


@dataclass(frozen=True)
class RunRequest:
    """A model, and how a release is scored with it.

    `dtype`: the number format of the model, part of its key unless it is float32. `kept_file`: format and proficiency
    file of a stored score file; `proficiency`: that file as the operator names it. `columns`: {role: column}; `form`:
    the format of the score file, detected if empty. `control`: also rank among sampled captions of other videos
    (Feint6K, Fig. 1b); `standard`: also rank each clip's caption among all captions. `controls`: also score with less
    and less of each clip (`scoring.rungs`), the best of `frames_tried` frames; `rung_files`: {rung: score file}.
    `rungs`: names of rungs and stress tests, alone or in addition to `controls`. `budget`: the maximum `requests`,
    `tokens` and `cost` of a run through an endpoint.
    """

    spec: str
    protocol: str = "foilworks"
    device: str = "auto"
    label: str = ""
    control: bool = False
    standard: bool = False
    dtype: str = DTYPES[0]
    kept_file: Mapping[str, str] | None = None
    proficiency: Path | None = None
    columns: Mapping[str, str] | None = None
    form: str = ""
    budget: Mapping[str, float] | None = None
    controls: bool = False
    rungs: Sequence[str] = ()
    frames_tried: int = FRAMES_TRIED
    rung_files: Mapping[str, Path] | None = None

    def checked_spec(self, owner: Project | None) -> tuple[str, str]:
        """Return adapter and argument of the model. A stored score file may be outside of the models folder."""
        return checked_spec(self.spec, owner if self.kept_file is None else None)

    def checked_params(self, release: Release, slug: str, argument: str) -> dict[str, Any]:
        """Return the parameters of the run. EvaluationError: an invalid choice, or a missing file."""
        second_file = self.kept_file or _second_file(slug, self.proficiency)
        _check_choices(self.protocol, self.device, self.dtype)
        params = {**({"control": _drawn(release, slug)} if self.control else second_file), **_dtype(self.dtype)}
        params |= _named(self.columns, self.form, slug) | limited(self.budget, slug, f"{slug}:{argument}")
        return params | self._ladder(release, slug, argument) | _standard(slug, self.standard)

    def _ladder(self, release: Release, slug: str, argument: str) -> dict[str, dict[str, Any]]:
        if self.rung_files:
            return {"ladder": files_of_rungs(slug, self.rung_files)}
        if not self.controls and not self.rungs:
            return {}
        spec = f"{slug}:{argument}"
        return {"ladder": ladder_params(release, spec, self.frames_tried, names=self.rungs, usual=self.controls)}


def check_device(device: str) -> None:
    """Raise EvaluationError for an invalid device name."""
    if not DEVICE.fullmatch(device):
        raise EvaluationError(f"unknown device {quoted(device)}; give auto, cpu, cuda or cuda:N")


def checked_spec(spec: str, owner: Project | None) -> tuple[str, str]:
    """Return adapter and argument of a model, paths made absolute.

    `owner`: the project whose researcher names it; None: the operator, who may name any path. GenerationError: a path
    that is neither the project's nor shared; EvaluationError, HubError: no model.
    """
    spec = spec.strip()
    if len(spec) > MAX_SPEC_LENGTH or not spec.isprintable():
        raise EvaluationError(f"a model name has at most {MAX_SPEC_LENGTH} printable characters; shorten it")
    slug, argument = parse_spec(spec)
    if slug == ENDPOINT:
        served_spec(spec)
        return slug, argument
    if slug != SCORE_FILE:
        return slug, absolute_argument(argument, owner, is_path=slug in RUNS_OR_READS)
    path = absolute_path(argument, owner, is_path=True)
    if not Path(path).is_file():
        raise EvaluationError(f"{argument}: file: there is no such score file; check the path")
    return slug, path


def default_label(slug: str, argument: str) -> str:
    """Return the default name of a run: the folder, file or name of the model with its options, else the adapter.

    Runs of one model with other options are told apart by them.
    """
    if slug == SCORE_FILE:
        return PurePath(argument).stem
    name, mark, adapter_options = argument.partition("?")
    if slug == ENDPOINT:
        name = name if "/" in name else served_spec(f"{slug}:{argument}").model
    elif name.isdecimal():
        name = f"{slug}:{name}"
    # A folder of this host, such as that of a tokenizer, is no name.
    options = [option for option in adapter_options.split("&") if option and "/" not in option]
    return f"{PurePath(name).name or slug}{mark if options else ''}{'&'.join(options)}"


def limited(budget: Mapping[str, float] | None, slug: str, *specs: str) -> dict[str, dict[str, float]]:
    """Return the budget of a run with the models `specs` as its `params` store it.

    EvaluationError: a model without a budget, an unknown limit, or a max cost of an endpoint without a price.
    """
    limits = {name: value for name, value in (budget or {}).items() if value}
    if limits and slug != ENDPOINT:
        raise EvaluationError(_("Only runs through an endpoint have a budget. Remove the limits."))
    for name, value in limits.items():
        if name not in BUDGET or value < 0:
            raise EvaluationError(f"budget: {name} is {value}; give a number above 0 for: {', '.join(BUDGET)}")
    for spec in specs if COST in limits else ():
        kind, _mark, argument = spec.partition("?")[0].partition(":")
        if kind == ENDPOINT and (endpoint := endpoint_and_model(argument)[0]).price is None:
            names = {"name": endpoint.name, "price": f"CHAT_{endpoint.name.upper()}_PRICE"}
            raise EvaluationError(
                _("Endpoint %(name)s has no price, so it has no cost. Set %(price)s, or limit requests or tokens.")
                % names
            )
    return {"budget": limits} if limits else {}


def _standard(slug: str, is_selected: bool) -> dict[str, dict[str, Any]]:
    """Return what the job fills; whether the model has vectors is known when it is loaded."""
    if is_selected and slug in (SCORE_FILE, ENDPOINT):
        raise EvaluationError(_("Standard retrieval needs the vectors of a dual encoder. Clear “Standard retrieval”."))
    return {STANDARD: {}} if is_selected else {}


def _second_file(slug: str, path: Path | None) -> dict[str, str]:
    if path is None:
        return {}
    if slug != SCORE_FILE:
        raise EvaluationError("a model scores the proficiency items itself; leave out the file of proficiency scores")
    if not path.is_file():
        raise EvaluationError(f"{path}: file: there is no such score file; check the path")
    # A worker has a working folder of its own.
    return {"proficiency": str(path.resolve())}


def _named(columns: Mapping[str, str] | None, form: str, slug: str) -> dict[str, Any]:
    if form and slug != SCORE_FILE:
        raise EvaluationError(_("--form applies only to score files. Remove --form."))
    if columns and slug != SCORE_FILE:
        raise EvaluationError(_("--column applies only to score files. Remove --column."))
    return {**({"form": form} if form else {}), **({"columns": dict(columns)} if columns else {})}


def _dtype(dtype: str) -> dict[str, str]:
    return {} if dtype == DTYPES[0] else {"dtype": dtype}


def _drawn(release: Release, slug: str) -> dict[str, int]:
    """Return how the control is sampled; tried here, so that an impossible run fails at once."""
    if slug == SCORE_FILE:
        raise EvaluationError(_("A score file has no scores of sampled captions. Clear “Retrieval control”."))
    params = {"candidates": CANDIDATES, "seed": SEED}
    control_texts(records_of(release), params)
    return params


def _check_choices(protocol: str, device: str, dtype: str) -> None:
    if protocol not in PROTOCOLS:
        raise EvaluationError(f"unknown protocol {quoted(protocol)}; choose one of: {', '.join(PROTOCOLS)}")
    check_device(device)
    if dtype not in DTYPES:
        raise EvaluationError(f"unknown number format {quoted(dtype)}; choose one of: {', '.join(DTYPES)}")
