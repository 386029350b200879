"""Tune text-to-text models on the train captions of a project, and read the tunings."""

from datetime import datetime
from typing import Any

from ninja import Field, Schema

from foilworks.site.api.imports import JobOut, job_out
from foilworks.site.api.rows import Call, Rows
from foilworks.site.api.shapes import Anything
from generation.access import get_tuning
from generation.actions import runs as actions
from generation.model_presence import check_named
from generation.models import Tuning


class TuningIn(Schema):
    """`params`: as on the page; `model` is the model to tune."""

    params: Anything = {}
    seed: int = Field(0, ge=0, le=2**63 - 1)


class TuningOut(Schema):
    """`losses`: [step, mean loss since the last point]. `folder`: the parameter `model` of a run; empty until then."""

    id: int
    base_model: str
    params: Anything
    seed: int
    captions: int
    steps: int
    losses: list[list[float]]
    folder: str
    job: JobOut | None
    created_at: datetime


def tuning_out(tuning: Tuning) -> dict[str, Any]:
    fields = {name: getattr(tuning, name) for name in TuningOut.model_fields if name not in {"id", "job"}}
    return {"id": tuning.pk, "job": job_out(tuning.job), **fields}


def _start(call: Call) -> dict[str, Any]:
    check_named(str(call.body["params"].get("model", "")))
    return tuning_out(actions.start_tuning(call.person, call.project, **call.body))


rows = Rows("tunings")
rows.listed(
    "",
    "list_tunings",
    "List the tunings of the project, newest first.",
    lambda call: Tuning.objects.filter(project=call.project).select_related("job"),
    TuningOut,
    out=tuning_out,
)
rows.write(
    "",
    "start_tuning",
    "Start a tuning; a job tunes the model on the train captions.",
    _start,
    body=TuningIn,
    shape=TuningOut,
    status=202,
)
rows.read(
    "/{int:pk}",
    "read_tuning",
    "Get one tuning, with its losses so far.",
    lambda call: tuning_out(call.row),
    TuningOut,
    get=get_tuning,
)
