"""Show UTD: descriptions of frames, the biases measured from them, splits, models on them, and shortcuts."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evaluation.charts.inline import cached_chart
from evaluation.score_files.uploaded_files import safe_name, write_file
from evaluation.scoring.forms import BudgetForm
from evaluation.utd import pages
from evaluation.utd.ablation import ablation_rows
from evaluation.utd.access import get_bias_run, get_descriptions
from evaluation.utd.actions.biases import check_shortcuts, measure_bias, set_shortcut_bar
from evaluation.utd.actions.descriptions import describe_videos, import_descriptions, resume_description
from evaluation.utd.actions.import_benchmark import import_benchmark
from evaluation.utd.actions.import_splits import import_splits
from evaluation.utd.downloads import answer, class_distribution
from evaluation.utd.forms import (
    AnswersForm,
    DescribeForm,
    DescriptionFilesForm,
    MeasureForm,
    ShortcutBarForm,
    ShortcutForm,
    SplitFileForm,
)
from evaluation.utd.models import Descriptions, ItemCheck, ShortcutBar
from evaluation.utd.procedure import CHOICES
from evaluation.utd.reliability import certificate_of
from evaluation.utd.requests import BiasRequest, DescriptionRequest
from evaluation.utd.sample_pages import REMOVED, sample_indices, shown_samples
from evaluation.utd.shortcuts import latest_check, summary
from evaluation.utd.subsets import videos_to_describe
from evaluation.utd.verdicts import guess_of, order_matters
from foilworks.core.corpus.models import Video
from foilworks.core.corpus.video_files.player import player_clip
from foilworks.core.projects.access import enter_project, get_project
from foilworks.core.projects.live_pages import render_live
from foilworks.core.projects.models import Project, Role
from foilworks.core.text.errors import ActionableError

FORM_PAGE = "evaluation/bias/form.html"
# On the page of the split.
REMOVED_SHOWN = 3
METHODS = ["GET", "HEAD", "POST"]


@require_safe
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    return render(request, "evaluation/bias/overview.html", _overview(project))


@require_safe
def overview_progress(request: HttpRequest, slug: str) -> HttpResponse:
    """Render the live part: it polls itself while a job is in progress, then requests the whole page."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    context = _overview(project)
    return render_live(request, "evaluation/bias/_overview.html", context, refresh=not context["at_work"])


def _overview(project: Project) -> dict[str, Any]:
    described, runs = list(pages.descriptions_of(project)), list(pages.runs_of(project))
    at_work = any(row.job and not row.job.is_over for row in (*described, *runs))
    facts = pages.facts_of(project, described, runs)
    return {"described": described, "runs": runs, "at_work": at_work, "facts": facts}


@require_http_methods(METHODS)
def describe(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = DescribeForm(*sent_to(request))

    def act() -> HttpResponse:
        describe_videos(request.user, project, DescriptionRequest(**form.cleaned_data))
        return redirect("utd:bias", slug)

    closed = _nothing_to_describe(project)
    return _form_page(request, form, "describer", act, _("Describe videos"), _("Describe"), closed)


def _nothing_to_describe(project: Project) -> str:
    """Return why no video can be described, and what to do; "" if one can."""
    n = Video.objects.filter(project=project).count()
    if not n:
        return _("This project has no videos yet. Import videos first.")
    if videos_to_describe(project, {}).exists():
        return ""
    return ngettext(
        "The only video has no file yet. Upload its file under Content → Import, or import published descriptions.",
        "None of the %(n)d videos has a file yet. Upload their files under Content → Import, or import published "
        "descriptions.",
        n,
    ) % {"n": n}


@require_http_methods(METHODS)
def description_file(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = DescriptionFilesForm(*sent_to(request))

    def act() -> HttpResponse:
        sent = form.cleaned_data
        with_file(
            sent["file"],
            lambda path: import_descriptions(
                request.user, project, [path], name=sent["name"], extractor=sent["extractor"]
            ),
        )
        return redirect("utd:bias", slug)

    return _form_page(request, form, "file", act, _("Import descriptions"), _("Import"))


@require_http_methods(METHODS)
def measure(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = MeasureForm(project, *sent_to(request), initial=request.GET.dict())

    def act() -> HttpResponse:
        fields = dict(form.cleaned_data)
        options = {name: fields.pop(name) for name in (*CHOICES, "c")}
        bias_run = measure_bias(request.user, fields.pop("descriptions"), BiasRequest(options=options, **fields))
        return redirect("utd:bias_run", slug, bias_run.pk)

    described = Descriptions.objects.filter(project=project).exists()
    closed = "" if described else _("There are no descriptions to measure yet. Describe or import them first.")
    return _form_page(request, form, "encoder", act, _("Measure biases"), _("Measure"), closed)


@require_http_methods(METHODS)
def split_file(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = SplitFileForm(*sent_to(request))

    def act() -> HttpResponse:
        sent = dict(form.cleaned_data)
        bias_run = with_file(sent.pop("file"), lambda path: import_splits(request.user, project, path, **sent))
        return redirect("utd:bias_split", slug, bias_run.pk)

    return _form_page(request, form, "file", act, _("Import predictions or splits"), _("Import"))


@require_safe
def descriptions(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show one described video per page, frame by frame."""
    descriptions = enter_project(request, get_descriptions(request.user, slug, pk))
    described = Video.objects.filter(frame_texts__descriptions=descriptions).distinct()
    videos = described.order_by("key")
    if search_text := request.GET.get("q", "").strip():
        videos = videos.filter(key__icontains=search_text)
    page = Paginator(videos, 1).get_page(request.GET.get("page"))
    video = page.object_list[0] if page.object_list else None
    frames = pages.shown_frames(descriptions, video.pk) if video else []
    context = {
        "descriptions": descriptions,
        "page": page,
        "video": video,
        "frames": frames,
        "concepts": pages.CONCEPT_NAMES.values(),
        "clip": player_clip(video) if video else None,
        "n_described": described.count(),
        "n_videos": Video.objects.filter(project=descriptions.project).count(),
        "wanted": search_text,
        "query": f"{urlencode({'q': search_text})}&" if search_text else "",
    }
    return render(request, "evaluation/bias/descriptions.html", context)


@require_POST
def go_on(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    descriptions = get_descriptions(request.user, slug, pk)
    try:
        form = BudgetForm(request.POST)
        resume_description(request.user, descriptions, form.cleaned_data["budget"] if form.is_valid() else None)
    except ActionableError as error:
        messages.error(request, str(error))
    return redirect("utd:bias", slug)


@require_safe
def run(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    bias_run = enter_project(request, get_bias_run(request.user, slug, pk))
    result = bias_run.result or {}
    context = {
        "run": bias_run,
        "result": result,
        "verdicts": pages.verdicts_of(result),
        "order": order_matters(result),
        "common": pages.rows_of(result.get("common"), result.get("chance") or 0.0),
        "dataset": pages.rows_of(result.get("dataset"), guess_of(result)),
        "guess": guess_of(result),
        "gains": pages.gain_rows(result.get("gains")),
        "galleries": [{**row, "name": pages.CONCEPT_NAMES[row["concept"]]} for row in result.get("galleries") or ()],
        "temporal": pages.TEMPORAL_NAMES.values(),
        "terms": pages.TERMS,
    }
    return render(request, "evaluation/bias/run.html", context)


@require_safe
def run_progress(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Render the live part: it polls itself while the job is in progress, then requests the whole page."""
    bias_run = enter_project(request, get_bias_run(request.user, slug, pk))
    return render_live(
        request,
        "evaluation/bias/_run_progress.html",
        {"run": bias_run},
        refresh=not bias_run.job or bias_run.job.is_over,
    )


@require_safe
def split(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    bias_run = enter_project(request, get_bias_run(request.user, slug, pk))
    facts = (bias_run.result or {}).get("split")
    context = {"run": bias_run, "result": bias_run.result or {}, "facts": facts}
    if facts:
        n_kept = facts["n"] - facts["n_biased"]
        context |= {"n_kept": n_kept, "kept_share": n_kept / facts["n"]}
        rows = facts["classes"]
        context["chart"] = partial(cached_chart, "classes", partial(class_distribution, rows), rows)
        context["samples"] = shown_samples(bias_run, sample_indices(bias_run, REMOVED)[:REMOVED_SHOWN])
    return render(request, "evaluation/bias/split.html", context)


@require_http_methods(METHODS)
def models(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show models on the splits (UTD, Tables 5 and 6), and the form for a file of a model's answers."""
    bias_run = enter_project(request, get_bias_run(request.user, slug, pk))
    form = AnswersForm(*sent_to(request))
    if form.is_bound and form.is_valid():
        sent = dict(form.cleaned_data)
        try:
            with_file(sent.pop("file"), lambda path: import_benchmark(request.user, bias_run, path, **sent))
        except ActionableError as error:
            form.add_error("file", str(error))
        else:
            return redirect("utd:bias_models", slug, pk)
    table = pages.benchmark_of(bias_run)
    context = {"run": bias_run, "form": form, "table": table, "rows": pages.benchmark_rows(table) if table else []}
    context["certificate"] = certificate_of(bias_run.result)
    result = bias_run.result or {}
    context["can_train"] = (result.get("split") and bias_run.descriptions_id) or result.get("matched", {}).get("n")
    context["pending"] = bias_run.benchmarked.filter(scored_at__isnull=True, job__isnull=False).select_related("job")
    return render(request, "evaluation/bias/models.html", context, status=422 if form.errors else 200)


@require_safe
def ablation(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    return render(request, "evaluation/bias/ablation.html", {"groups": ablation_rows(project)})


@require_safe
def download(request: HttpRequest, slug: str, pk: int, what: str, extension: str) -> HttpResponse:
    """Serve splits as UTD publishes them, predictions, tables, the class distribution."""
    return answer(get_bias_run(request.user, slug, pk), what, extension)


def sent_to(request: HttpRequest) -> tuple[Any, Any]:
    """Return data and files of a form, both None if nothing was sent."""
    return (request.POST, request.FILES) if request.method == "POST" else (None, None)


def with_file(sent: Any, act: Callable[[Path], Any]) -> Any:
    """Call `act` on the upload, under a safe name; messages contain only the name of the file."""
    with TemporaryDirectory(prefix="foilworks-") as folder:
        path = Path(folder) / safe_name(sent.name or "")
        write_file(sent, path)
        try:
            return act(path)
        except ActionableError as error:
            raise type(error)(str(error).replace(f"{path.parent}/", "")) from error


def _form_page(
    request: HttpRequest,
    form: forms.Form,
    field: str,
    act: Callable[[], HttpResponse],
    title: str,
    verb: str,
    closed: str = "",
) -> HttpResponse:
    """Render a page with only a form; errors of the action appear next to `field`.

    `closed`: why nobody can use the form now.
    """
    if form.is_bound and form.is_valid():
        try:
            return act()
        except ActionableError as error:
            form.add_error(field, str(error))
    context = {"form": form, "title": title, "verb": verb, "is_file": form.is_multipart(), "closed": closed}
    context["back"] = reverse("utd:bias", args=[request.project.slug])
    return render(request, FORM_PAGE, context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def shortcuts(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = ShortcutForm(project, request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        parameters = dict(form.cleaned_data)
        try:
            check_shortcuts(request.user, parameters.pop("descriptions"), **parameters)
        except ActionableError as error:
            form.add_error("encoder", str(error))
        else:
            return redirect("utd:bias_items", slug)
    status = 422 if form.errors else 200
    return render(request, "evaluation/bias/shortcuts.html", {**_context(project), "form": form}, status=status)


@require_safe
def shortcuts_progress(request: HttpRequest, slug: str) -> HttpResponse:
    """Render the live part: it polls itself while a check is in progress, then requests the whole page."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    pending = _pending(project)
    return render_live(
        request,
        "evaluation/bias/_shortcuts_progress.html",
        {"pending": pending},
        refresh=not pending or pending.job is None or pending.job.is_over,
    )


@require_POST
def shortcut_bar(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = ShortcutBarForm(request.POST)
    if form.is_valid():
        set_shortcut_bar(request.user, project, form.cleaned_data["share"])
        messages.success(request, _("The limit is saved. It applies from the next release."))
        return redirect("utd:bias_items", slug)
    context = {**_context(project), "form": ShortcutForm(project), "bar_form": form}
    return render(request, "evaluation/bias/shortcuts.html", context, status=422)


def _pending(project: Project) -> ItemCheck | None:
    checks = ItemCheck.objects.filter(descriptions__project=project, checked_at__isnull=True)
    return checks.select_related("job").order_by("-pk").first()


def _context(project: Project) -> dict[str, Any]:
    check, bar = latest_check(project), ShortcutBar.objects.filter(project=project).first()
    return {
        "check": check,
        "rows": summary(check) if check else [],
        "pending": _pending(project),
        "described": Descriptions.objects.filter(project=project).exists(),
        "bar": bar,
        "bar_form": ShortcutBarForm(initial={"share": bar.share if bar else None}),
    }
