"""Forms of the researcher's pages of quality."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.actions.quality.add_gold_pairs import MAX_PAIRS_AT_ONCE
from annotation.models import QualityPolicy, Use
from annotation.queries.quality import sources
from corpus.models import Caption, Subtest
from projects.models import Project


class PolicyForm(forms.ModelForm):
    class Meta:
        model = QualityPolicy
        fields = [
            "gold_rate",
            "gold_min",
            "careful_accuracy",
            "guess_accuracy",
            "false_pauses",
            "position_min",
            "fast_share",
            "fast_min",
            "practice_open",
            "qualification_open",
            "qualification_required",
            "test_length",
            "pass_share",
            "mismatched_share",
            "tries",
        ]
        labels = {
            "gold_rate": _("Share of gold among the pieces"),
            "gold_min": _("Gold answers before anybody is paused for them"),
            "careful_accuracy": _("Share of gold that a careful person gets right"),
            "guess_accuracy": _("Share of gold that a guesser gets right"),
            "false_pauses": _("Share of careful people that may be paused by mistake"),
            "position_min": _("Answers before anybody is paused for always choosing one place"),
            "fast_share": _("Too fast: before this share of the clip has passed"),
            "fast_min": _("Answers before anybody is paused for speed"),
            "practice_open": _("Practice is open"),
            "qualification_open": _("The qualification is open"),
            "qualification_required": _("Only who has passed it may validate"),
            "test_length": _("Questions of the qualification"),
            "pass_share": _("Share that must be right"),
            "mismatched_share": _("Share of mismatched pairs among the questions"),
            "tries": _("Tries a person has"),
        }
        help_texts = {
            "gold_rate": _("0 to 0.5; 0.2 is one piece in five. 0: no gold."),
            "fast_share": _("0 to 1; 0: time is not looked at."),
            "test_length": _("ViLMA: at least 7."),
            "pass_share": _("ViLMA: 0.9."),
        }


class PairsForm(forms.Form):
    """What pairs are drawn from; the seed makes the draw repeatable."""

    subtest = forms.ModelChoiceField(Subtest.objects.none(), label=_("Valid items of"), empty_label=None)
    number = forms.IntegerField(label=_("How many"), min_value=1, max_value=MAX_PAIRS_AT_ONCE, initial=10)
    mismatched = forms.BooleanField(label=_("With another item's video: the answer is “neither”"), required=False)
    seed = forms.IntegerField(label=_("Seed"), min_value=0, max_value=2**31 - 1, initial=0)
    explanation = forms.CharField(label=_("Explanation"), required=False, max_length=1000)

    def __init__(self, *args: Any, project: Project, use: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["subtest"].queryset = sources(project, use)
        self.fields["subtest"].label_from_instance = lambda subtest: f"{subtest.name} ({subtest.n_free})"
        if use != Use.PRACTICE:
            del self.fields["explanation"]


class PracticeForm(forms.Form):
    """A caption to practise editing on, named by its key."""

    key = forms.CharField(label=_("Key of the caption, or of its video"), max_length=200)
    examples = forms.CharField(
        label=_("An expert's foils, one a line"), widget=forms.Textarea(attrs={"rows": 3}), max_length=4000
    )
    explanation = forms.CharField(label=_("Explanation"), required=False, max_length=1000)

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project

    def clean(self) -> dict[str, Any]:
        """{"caption", "examples", "explanation"}."""
        data = dict(self.cleaned_data)
        key = data.pop("key", "").strip()
        captions = Caption.objects.filter(video__project=self.project).select_related("video")
        found = captions.filter(key=key).first() or captions.filter(video__key=key).order_by("pk").first()
        if key and found is None:
            self.add_error("key", _("No caption and no video of this project has this key."))
        return {**data, "caption": found, "examples": data.get("examples", "").splitlines()}
