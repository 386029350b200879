"""Show the board of open answers of a release, import answers, and ask people about a sample of a judge's verdicts."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from evaluation.open_answers.actions.open_answers import import_open_answers, judge_sample
from evaluation.open_answers.boards import agreement_of, as_json, sample_of
from evaluation.open_answers.boards import open_board as board_of
from evaluation.open_answers.forms import OpenAnswersForm
from evaluation.open_answers.models import OpenAnswerSet
from foilworks.core.corpus.access import get_release
from foilworks.core.projects.access import enter_project, get_row
from foilworks.core.projects.models import Role
from foilworks.core.text.errors import ActionableError

PER_PAGE = 10


@require_http_methods(["GET", "HEAD", "POST"])
def open_board(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show the board, or its rows as JSON (`?format=json`); POST imports a file of answers."""
    release = enter_project(request, get_release(request.user, slug, pk))
    form = OpenAnswersForm(request.POST, request.FILES) if request.method == "POST" else OpenAnswersForm()
    if form.is_bound and form.is_valid():
        parameters = dict(form.cleaned_data)
        try:
            import_open_answers(request.user, release, parameters.pop("answers"), **parameters)
        except ActionableError as error:
            form.add_error("answers", str(error))
        else:
            messages.success(request, _("The answers are imported. A judge's verdicts appear when its job is done."))
            return redirect("open_answers:board", slug, pk)
    board = board_of(release)
    if request.GET.get("format") == "json":
        return JsonResponse({"rows": as_json(board)}, json_dumps_params={"ensure_ascii": False, "indent": 2})
    context = {"release": release, "board": board, "form": form}
    return render(request, "evaluation/open_board.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def sample(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Ask a person which answers of the sample are right, without the judge's verdicts."""
    sets = OpenAnswerSet.objects.select_related("release__project")
    answer_set = get_row(sets, request.user, slug, Role.RESEARCHER, at="release__project", pk=pk)
    enter_project(request, answer_set.release)
    if request.method == "POST":
        verdicts = {
            int(name.removeprefix("answer-")): value == "right"
            for name, value in request.POST.items()
            if name.removeprefix("answer-").isdecimal() and value in ("right", "wrong")
        }
        try:
            n = judge_sample(request.user, answer_set, verdicts)
        except ActionableError as error:
            messages.error(request, str(error))
        else:
            words = ngettext("%(n)s verdict is stored.", "%(n)s verdicts are stored.", n)
            messages.success(request, words % {"n": n})
        return redirect("open_answers:sample", slug, pk)
    left = sample_of(answer_set, request.user)
    context = {
        "answer_set": answer_set,
        "release": answer_set.release,
        "answers": left[:PER_PAGE],
        "n_left": len(left),
        "agreement": agreement_of(answer_set),
    }
    return render(request, "evaluation/open_sample.html", context)
