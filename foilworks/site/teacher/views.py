"""Show trainings by LLM-teacher: start one, watch its curve, see its effect, compare several."""

import csv
from functools import partial
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evaluation.charts.inline import cached_chart
from evaluation.errors import EvaluationError
from evaluation.utd.subsets import summarized
from foilworks.core.corpus.access import get_release
from foilworks.core.corpus.models import Release
from foilworks.core.projects.access import enter_project, get_project
from foilworks.core.projects.live_pages import render_live
from foilworks.core.projects.models import Role
from foilworks.core.text.errors import ActionableError
from foilworks.core.text.storable import safe_row
from foilworks.site.teacher.access import get_teacher_reading, get_teacher_training
from foilworks.site.teacher.actions.trainings import read_release, resume_teacher, start_teacher
from foilworks.site.teacher.forms import ReadingForm, TrainingForm
from foilworks.site.teacher.models import TeacherTraining
from foilworks.site.teacher.pages import (
    ablation,
    before_and_after,
    changes_chart,
    chosen_step,
    curve_chart,
    curve_of,
    last_parts,
)
from foilworks.site.teacher.plan import TEACHING
from generation.actions.runs import why_no_tuning

PER_PAGE = 20
# Above the table of a reading.
SHARES_SHOWN = 3
PRIVATE = {"Cache-Control": "private, no-cache"}
COLUMNS = ("measure", "before", "after", "value", "n", "n_clusters", "p")


@require_http_methods(["GET", "HEAD", "POST"])
def trainings(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the form of a new training, and existing ones, newest first."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = TrainingForm(project, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            training = start_teacher(request.user, project, form.training_request(project))
        except ActionableError as error:
            form.add_problem(error)
        else:
            return redirect("teacher:teacher_training", project.slug, training.pk)
    rows = TeacherTraining.objects.filter(project=project).select_related("job", "release")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    read = Release.objects.filter(project=project, pk__in=rows.order_by().exclude(release=None).values("release"))
    context = {"form": form, "entry": TEACHING, "page": page, "releases": read, "closed": why_no_tuning(project)}
    context["is_open"] = form.is_bound or "new" in request.GET or not page.object_list
    status = 422 if request.method == "POST" else 200
    return render(request, "evaluation/teacher/trainings.html", context, status=status)


@require_safe
def training(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show one training; `?part=1` is only the live part, which polls itself while the job is in progress."""
    training = enter_project(request, get_teacher_training(request.user, slug, pk))
    is_live_part = request.GET.get("part") == "1"
    points = curve_of(training)
    last = points[-1] if points else None
    context = {"training": training, "points": points, "last": last, "parts": last_parts(training) if last else {}}
    drawn_from = [training.label, points, chosen_step(training)]
    context["chart"] = partial(cached_chart, "curve", partial(curve_chart, training, points), drawn_from)
    if not is_live_part:
        readings = list(training.readings.select_related("release", "job"))
        context["newest"] = next((reading for reading in readings if reading.after), None)
        context |= {
            "readings": readings,
            "form": ReadingForm(training.project),
            "settings": summarized(training.params),
        }
    name = "evaluation/teacher/_progress.html" if is_live_part else "evaluation/teacher/training.html"
    return render_live(request, name, context, refresh=bool(is_live_part and training.job and training.job.is_over))


@require_safe
def training_curve(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    training = get_teacher_training(request.user, slug, pk)
    points = curve_of(training)
    if not points:
        raise Http404
    return HttpResponse(curve_chart(training, points), content_type="image/svg+xml", headers=PRIVATE)


@require_POST
def resume(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    resume_teacher(request.user, enter_project(request, get_teacher_training(request.user, slug, pk)))
    messages.success(request, _("The training continues."))
    return redirect("teacher:teacher_training", slug, pk)


@require_POST
def read_another(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Request the evaluation of another release."""
    training = get_teacher_training(request.user, slug, pk)
    form = ReadingForm(training.project, request.POST)
    if not form.is_valid():
        raise EvaluationError(_("Choose a release of this project."))
    reading = read_release(request.user, training, get_release(request.user, slug, int(form.cleaned_data["release"])))
    return redirect("teacher:teacher_reading", slug, pk, reading.release_id)


@require_safe
def reading(request: HttpRequest, slug: str, pk: int, release: int) -> HttpResponse:
    """Show the effect of a training on a release; `?part=1` is the progress of the evaluation job."""
    reading = get_teacher_reading(request.user, slug, pk, release)
    request.project = reading.training.project
    if request.GET.get("part") == "1":
        return render_live(
            request,
            "evaluation/teacher/_reading_progress.html",
            {"reading": reading},
            refresh=reading.job is None or reading.job.is_over,
        )
    rows = before_and_after(reading)
    context = {"reading": reading, "training": reading.training, "rows": rows}
    context["facts"] = [row for row in rows if row["how"] == "share"][:SHARES_SHOWN]
    drawn_from = [reading.before, reading.after]
    context["chart"] = partial(cached_chart, "changes", partial(changes_chart, reading), drawn_from)
    return render(request, "evaluation/teacher/reading.html", context)


@require_safe
def reading_file(request: HttpRequest, slug: str, pk: int, release: int, extension: str) -> HttpResponse:
    """Serve `csv` and `json` of the table, the distributions as `svg`."""
    reading = get_teacher_reading(request.user, slug, pk, release)
    rows = before_and_after(reading)
    if extension not in {"csv", "json", "svg"} or not rows:
        raise Http404
    if extension == "svg":
        return HttpResponse(changes_chart(reading), content_type="image/svg+xml", headers=PRIVATE)
    headers = {"Content-Disposition": f'attachment; filename="{slug}-teacher-{pk}-{release}.{extension}"'}
    if extension == "json":
        return JsonResponse({"rows": rows, "sources": reading.training.sources}, headers=headers)
    return _csv(
        [[*COLUMNS, "low", "high"], *([*(row[name] for name in COLUMNS), *_ends(row["ci"])] for row in rows)], headers
    )


@require_safe
def comparison(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show the trainings evaluated on a release, one row each, compared with the one in the address."""
    release = enter_project(request, get_release(request.user, slug, pk))
    context = {"release": release, **ablation(release, request.GET.get("base", ""))}
    return render(request, "evaluation/teacher/comparison.html", context)


@require_safe
def comparison_file(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Serve the comparison as CSV: one line per row and measure."""
    data = ablation(get_release(request.user, slug, pk), request.GET.get("base", ""))
    lines: list[list[Any]] = [
        [
            "training",
            "student",
            "objective",
            "captions",
            "seeds",
            "seeds_left_out",
            "measure",
            "value",
            "low",
            "high",
            f"minus {data['base']}",
            "difference_low",
            "difference_high",
            "p",
        ]
    ]
    for row in data["rows"]:
        seeds = [" ".join(map(str, row[name])) for name in ("seeds", "left_out")]
        row_facts = [row["label"], row["student"], row["objective"], row["captions"], *seeds]
        for measure, value in row["found"].items():
            against = row["against"].get(measure, {"value": None, "ci": None, "p": None})
            lines.append(
                [
                    *row_facts,
                    measure,
                    value["value"],
                    *_ends(value["ci"]),
                    against["value"],
                    *_ends(against["ci"]),
                    against["p"],
                ]
            )
    return _csv(lines, {"Content-Disposition": f'attachment; filename="{slug}-teacher-{pk}.csv"'})


def _ends(interval: Any) -> list[Any]:
    return list(interval or (None, None))


def _csv(lines: list[list[Any]], headers: dict[str, str]) -> HttpResponse:
    response = HttpResponse(content_type="text/csv; charset=utf-8", headers=headers)
    csv.writer(response).writerows(safe_row(line) for line in lines)
    return response
