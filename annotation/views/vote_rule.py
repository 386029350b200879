"""The votes that pairs of one subtest take: read, and changed while nobody has been shown one."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import subtest_for
from annotation.actions.settings.publishers_word import collect_votes, waiting_on_publishers_word
from annotation.actions.settings.set_vote_rule import set_vote_rule
from annotation.errors import AnnotationError
from annotation.forms import CollectVotesForm
from annotation.queries.vote_rules import why_fixed
from annotation.rules.voting import VoteRule
from corpus.forms import VoteRuleForm
from corpus.models import Subtest
from projects.access import get_project
from projects.models import Role


@require_http_methods(["GET", "HEAD", "POST"])
def vote_rule(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    subtest = subtest_for(project, pk)
    name, form = subtest.name, VoteRuleForm(request.POST if request.method == "POST" else None, instance=subtest)
    if form.is_bound and form.is_valid():
        given = form.cleaned_data
        rule = VoteRule(
            wanted=given["votes_wanted"],
            needed=given["votes_needed"],
            all_pairs=given["valid_when"] == Subtest.ValidWhen.ALL,
            pairs_enough=given["foils_enough"],
            stop_early=given["stop_early"],
        )
        try:
            set_vote_rule(request.user, subtest, rule)
        except AnnotationError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("The votes of %(name)s are changed.") % {"name": name})
            return redirect("corpus:subtests", project.slug)
    # What the form was given and is not stored is not what holds.
    context = {"form": form, "subtest": subtest_for(project, pk), "why_fixed": why_fixed(subtest)}
    context["n_on_word"] = waiting_on_publishers_word(subtest).count()
    context["votes_form"] = CollectVotesForm()
    return render(request, "annotation/vote_rule.html", context, status=422 if form.errors else 200)


@require_POST
def ask_for_votes(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Ask validators about items that count as valid on their publisher's word."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    subtest, form = subtest_for(project, pk), CollectVotesForm(request.POST)
    try:
        if not form.is_valid():
            raise AnnotationError(_("Ask about at least one item."))
        n = collect_votes(request.user, subtest, size=form.cleaned_data["sample"])
    except AnnotationError as error:
        messages.error(request, str(error))
    else:
        said = ngettext("Validators are asked about %(n)d item.", "Validators are asked about %(n)d items.", n)
        messages.success(request, said % {"n": n})
    return redirect("annotation:vote_rule", project.slug, subtest.pk)
