"""Describe clips, measure biases and shortcuts, train by LLM-teacher: jobs whose results have pages of their own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ninja import Schema

from evaluation.utd.access import get_bias_run, get_descriptions
from evaluation.utd.actions.biases import check_shortcuts, measure_bias, predict_samples
from evaluation.utd.actions.descriptions import describe_videos, import_descriptions
from evaluation.utd.actions.import_benchmark import import_benchmark
from evaluation.utd.actions.import_splits import import_splits
from evaluation.utd.forms import (
    AnswersForm,
    DescribeForm,
    DescriptionFilesForm,
    MeasureForm,
    ShortcutForm,
    SplitFileForm,
    TrainForm,
)
from evaluation.utd.models import BenchmarkedModel, BiasRun, Descriptions, ItemCheck
from evaluation.utd.pages import benchmark_of
from evaluation.utd.procedure import CHOICES
from evaluation.utd.requests import BiasRequest, DescriptionRequest, PredictionRequest
from evaluation.utd.shortcuts import latest_check, summary
from evaluation.utd.views import with_file
from foilworks.core.corpus.access import get_release
from foilworks.site.api.imports import job_out
from foilworks.site.api.rows import Call, Rows, shape_of
from foilworks.site.api.shapes import Anything, Id
from foilworks.site.teacher.access import get_teacher_reading, get_teacher_training
from foilworks.site.teacher.actions.trainings import read_release, start_teacher
from foilworks.site.teacher.forms import TrainingForm
from foilworks.site.teacher.models import StudentEvaluation, TeacherTraining
from foilworks.site.teacher.pages import ablation, before_and_after, curve_of

DescriptionsOut = shape_of(
    Descriptions, "id", "name", "describer", "extractor", "params", "problems", "described_at", "created_at", job=True
)
BiasOut = shape_of(
    BiasRun, "id", "descriptions", "name", "task", "labels", "encoder", "params", "result", "measured_at", "created_at",
    job=True,
)  # fmt: skip
ModelOut = shape_of(BenchmarkedModel, "id", "label", "source", "details", "scored_at", job=True)
CheckOut = shape_of(ItemCheck, "id", "descriptions", "encoder", "params", "checked_at", job=True)
TrainingOut = shape_of(
    TeacherTraining,
    "id",
    "label",
    "student",
    "params",
    "seed",
    "release",
    "sources",
    "model_spec",
    "created_at",
    job=True,
)
ReadingOut = shape_of(StudentEvaluation, "id", "training", "release", "left_out", "created_at", job=True)


class ReleaseOf(Schema):
    release: Id


class BaseAsked(Schema):
    """`base`: the training that the others are compared with."""

    base: str = ""


class ShortcutsOut(Schema):
    """`rows`: items by subtest that descriptions alone answer, by the newest finished check."""

    check: int | None
    rows: list[Anything]


class TrainingDetail(TrainingOut):
    """`curve`: step, loss and the measures at it; `evaluations`: of releases."""

    curve: list[Any]
    evaluations: list[ReadingOut]


class ReadingDetail(ReadingOut):
    """`rows`: each measure before and after, with paired intervals."""

    rows: list[Anything]


def _describe(call: Call) -> Descriptions:
    return describe_videos(call.person, call.project, DescriptionRequest(**call.values))


def _uploaded(call: Call, act: Callable[[Path, dict[str, Any]], Any]) -> Any:
    """Call the action with the path of the upload and the other fields of the form."""
    fields = call.values
    return with_file(fields.pop("file"), lambda path: act(path, fields))


def _import_descriptions(call: Call) -> Descriptions:
    return _uploaded(call, lambda path, fields: import_descriptions(call.person, call.project, [path], **fields))


def _measure(call: Call) -> BiasRun:
    fields = call.values
    options = {name: fields.pop(name) for name in (*CHOICES, "c")}
    return measure_bias(call.person, fields.pop("descriptions"), BiasRequest(options=options, **fields))


def _import_splits(call: Call) -> BiasRun:
    return _uploaded(call, lambda path, fields: import_splits(call.person, call.project, path, **fields))


def _import_answers(call: Call) -> BenchmarkedModel:
    return _uploaded(call, lambda path, fields: import_benchmark(call.person, call.row, path, **fields))


def _predict(call: Call) -> BenchmarkedModel:
    fields = call.values
    return predict_samples(call.person, call.row, PredictionRequest(fields.pop("model"), **fields))


def _check(call: Call) -> ItemCheck:
    fields = call.values
    return check_shortcuts(call.person, fields.pop("descriptions"), **fields)


def _shortcuts(call: Call) -> dict[str, Any]:
    check = latest_check(call.project)
    return {"check": check and check.pk, "rows": summary(check) if check else []}


def _models(call: Call) -> dict[str, Any]:
    pending = call.row.benchmarked.filter(scored_at__isnull=True, job__isnull=False).select_related("job")
    waiting = [{"label": model.label, "job": job_out(model.job)} for model in pending]
    return {"table": benchmark_of(call.row), "waiting": waiting}


def _train(call: Call) -> TeacherTraining:
    return start_teacher(call.person, call.project, call.form.training_request(call.project))


def _training(call: Call) -> Any:
    training = call.row
    training.curve = [list(point) for point in curve_of(training)]
    training.evaluations = list(training.readings.select_related("job"))
    return training


def _read(call: Call) -> StudentEvaluation:
    release = get_release(call.person, call.slug, call.body["release"])
    return read_release(call.person, call.row, release)


def _reading(call: Call) -> Any:
    reading = call.row
    reading.rows = before_and_after(reading)
    return reading


def _comparison(call: Call) -> dict[str, Any]:
    data = ablation(call.row, call.query.base)
    return {"base": data["base"], "rows": data["rows"], "measures": list(data["measures"])}


rows = Rows("bias")
rows.listed(
    "/descriptions",
    "list_descriptions",
    "List the descriptions of clips by models.",
    lambda call: Descriptions.objects.filter(project=call.project).select_related("job"),
    DescriptionsOut,
)
rows.write(
    "/descriptions",
    "describe_videos",
    "Describe frames of the clips, in a background job. Continue it with `retry_job`.",
    _describe,
    form=DescribeForm,
    shape=DescriptionsOut,
    status=202,
)
rows.write(
    "/descriptions/import",
    "import_descriptions",
    "Import descriptions from a file.",
    _import_descriptions,
    form=DescriptionFilesForm,
    files=("file",),
    shape=DescriptionsOut,
    status=201,
)
rows.read(
    "/descriptions/{int:pk}",
    "read_descriptions",
    "Get one set of descriptions.",
    lambda call: call.row,
    DescriptionsOut,
    get=get_descriptions,
)
rows.listed(
    "/biases",
    "list_biases",
    "List the measurements of biases.",
    lambda call: BiasRun.objects.filter(project=call.project).select_related("job"),
    BiasOut,
)
rows.write(
    "/biases",
    "measure_bias",
    "Measure the biases of a data set from descriptions, in a background job.",
    _measure,
    form=MeasureForm,
    make=lambda call, data: MeasureForm(call.project, data),
    shape=BiasOut,
    status=202,
)
rows.write(
    "/biases/import",
    "import_splits",
    "Import predictions or splits from a file.",
    _import_splits,
    form=SplitFileForm,
    files=("file",),
    shape=BiasOut,
    status=201,
)
rows.read(
    "/biases/{int:pk}",
    "read_bias",
    "Get one measurement with its result.",
    lambda call: call.row,
    BiasOut,
    get=get_bias_run,
)
rows.read(
    "/biases/{int:pk}/models", "list_bias_models", "Get the results of models on the splits.", _models, get=get_bias_run
)
rows.write(
    "/biases/{int:pk}/models",
    "import_answers",
    "Import a model's answers on the samples.",
    _import_answers,
    form=AnswersForm,
    files=("file",),
    shape=ModelOut,
    status=201,
    get=get_bias_run,
)
rows.write(
    "/biases/{int:pk}/train",
    "predict_samples",
    "Train a classifier on a frozen backbone, or score an image-text model, in a background job.",
    _predict,
    form=TrainForm,
    shape=ModelOut,
    status=202,
    get=get_bias_run,
)
rows.read("/shortcuts", "read_shortcuts", "Get the items that descriptions alone answer.", _shortcuts, ShortcutsOut)
rows.write(
    "/shortcuts",
    "check_shortcuts",
    "Check which items descriptions alone answer, in a background job.",
    _check,
    form=ShortcutForm,
    make=lambda call, data: ShortcutForm(call.project, data),
    shape=CheckOut,
    status=202,
)
rows.listed(
    "/trainings",
    "list_trainings",
    "List the trainings by LLM-teacher.",
    lambda call: TeacherTraining.objects.filter(project=call.project).select_related("job"),
    TrainingOut,
    filters={"label": str},
)
rows.write(
    "/trainings",
    "start_training",
    "Train a model by LLM-teacher, in a background job. Continue it with `retry_job`.",
    _train,
    form=TrainingForm,
    make=lambda call, data: TrainingForm(call.project, data),
    is_open=True,
    shape=TrainingOut,
    status=202,
)
rows.read(
    "/trainings/{int:pk}",
    "read_training",
    "Get one training with its curve.",
    _training,
    TrainingDetail,
    get=get_teacher_training,
)
rows.write(
    "/trainings/{int:pk}/readings",
    "evaluate_training",
    "Evaluate another release before and after the training, in a background job.",
    _read,
    body=ReleaseOf,
    shape=ReadingOut,
    status=202,
    get=get_teacher_training,
)
rows.read(
    "/trainings/{int:pk}/readings/{int:release}",
    "read_reading",
    "Get the effect of a training on a release.",
    _reading,
    ReadingDetail,
    get=get_teacher_reading,
)
rows.read(
    "/releases/{int:pk}/trainings",
    "compare_trainings",
    "Compare the trainings that were evaluated on a release.",
    _comparison,
    get=get_release,
    query=BaseAsked,
)
