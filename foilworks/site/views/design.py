"""Show every component of the interface in every state, with its real markup."""

from types import SimpleNamespace

from django import forms
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from evaluation.charts.inline import cached_chart
from evaluation.charts.of_reports import votes_by_choice
from foilworks.core.corpus.rules.states import CandidateState, ItemState
from foilworks.core.projects.number_fields import IntegerField
from foilworks.core.text.diff import diff_segments

CAPTION, FOIL = "A red ball rolls to the left.", "A red ball rolls to the right."
STATES = (*ItemState, *CandidateState)
VOTES = [
    ("direction", {"caption": 120, "foil": 20, "neither": 6, "both": 30, "cannot_tell": 8}),
    ("counting", {"caption": 60, "foil": 12, "neither": 2, "both": 5, "cannot_tell": 3}),
]
TOKENS = {
    "surfaces": ("paper", "card", "sunken", "raised"),
    "accents": ("accent", "accent-soft", "accent-line"),
    "states": ("good", "bad", "warn", "info"),
    "charts": ("chart-1", "chart-2", "chart-3", "chart-4", "chart-5"),
}


class SampleForm(forms.Form):
    """One field of each kind; `votes` is wrong in the sample."""

    name = forms.CharField(label=_("Name"), help_text=_("Shown on the leaderboard."))
    about = forms.CharField(label=_("Description"), required=False, widget=forms.Textarea(attrs={"rows": 2}))
    votes = IntegerField(label=_("Votes per pair"), min_value=1)
    kind = forms.ChoiceField(label=_("Kind"), choices=[("main", _("main")), ("proficiency", _("proficiency"))])
    open = forms.BooleanField(label=_("Open to validators"), required=False)


@require_safe
def design(request: HttpRequest) -> HttpResponse:
    sample = {"sample-name": "direction", "sample-votes": "0", "sample-kind": "main", "sample-open": "on"}
    context = {
        "tokens": TOKENS,
        "states": list(dict.fromkeys(state.value for state in STATES)),
        "segments": diff_segments(CAPTION, FOIL),
        "form": SampleForm(sample, prefix="sample"),
        "numbers": Paginator(range(60), 20).get_page(2),
        "notices": [
            SimpleNamespace(tone="", title=_("For your information."), text=_("A release freezes the valid items.")),
            SimpleNamespace(tone="notice-good", title=_("Done."), text=_("The release is frozen.")),
            SimpleNamespace(tone="notice-warn", title=_("Two validators are missing."), text=_("Invite them first.")),
            SimpleNamespace(tone="notice-bad", title=_("The run failed."), text=_("Read the message and retry.")),
        ],
        "chart": cached_chart("design", lambda: votes_by_choice(VOTES), VOTES),
        "votes": VOTES,
    }
    return render(request, "foilworks/design.html", context)
