"""Forms of the pages of quality, pay, studies, crowd studies and members."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.actions.claims.claim import ROLE_OF_STAGE
from annotation.actions.quality.gold_pairs import MAX_PAIRS_AT_ONCE
from annotation.actions.studies import MAX_FRAMES, MAX_OVERLAP
from annotation.models import FrameObjects, PayPolicy, QualityPolicy, ReviewPolicy, Stage, Use
from annotation.models.pay import CURRENCY
from annotation.queries.paid_work import PAID, in_words
from annotation.queries.quality import sources
from annotation.queries.work_rules import AnnotatorShare
from annotation.rules.objects import FRAMES
from annotation.rules.pay import Rate, Unit, typed_amount
from foilworks.core.corpus.models import Caption, Release, Subtest
from foilworks.core.projects.forms.accounts import ONCE_LABEL, ONCE_REASON
from foilworks.core.projects.listing.filters import Filters
from foilworks.core.projects.models import CrowdStudy, Membership, Project, Role, User
from foilworks.core.projects.number_fields import DecimalField, FloatField, IntegerField, ShareField, of_column

SHARES = (
    "gold_rate",
    "careful_accuracy",
    "guess_accuracy",
    "false_pauses",
    "fast_share",
    "pass_share",
    "mismatched_share",
)
SWITCHES = ("practice_open", "qualification_open", "qualification_required", "judge_caption_once")
# Starting points of the rules: values that the form shows, and that only *Save* stores.
PRESETS: dict[str, tuple[Any, dict[str, float]]] = {
    "off": (_("No checks"), {"gold_rate": 0.0, "fast_share": 0.0}),
    "usual": (_("Usual"), {"gold_rate": 0.1, "gold_min": 4, "false_pauses": 0.02, "fast_share": 0.5}),
    "strict": (_("Strict"), {"gold_rate": 0.2, "gold_min": 4, "false_pauses": 0.05, "fast_share": 0.8}),
}


class PolicyForm(forms.ModelForm):
    judge_caption_once = forms.BooleanField(label=ONCE_LABEL, help_text=ONCE_REASON, required=False)

    class Meta:
        model = QualityPolicy
        formfield_callback = of_column
        field_classes = dict.fromkeys(SHARES, ShareField)
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
            "gold_rate": _("Share of gold tasks"),
            "gold_min": _("Gold tasks to answer before someone can be paused"),
            "careful_accuracy": _("Expected gold accuracy of careful people"),
            "guess_accuracy": _("Expected gold accuracy of guessers"),
            "false_pauses": _("Max. share of careful people paused by mistake"),
            "position_min": _("Answers needed before someone can be paused for position bias"),
            "fast_share": _("Too fast: answered before this share of the clip was played"),
            "fast_min": _("Answers needed before someone can be paused for speed"),
            "practice_open": _("Practice is open"),
            "qualification_open": _("The qualification is open"),
            "qualification_required": _("Require the qualification for validators"),
            "test_length": _("Number of questions in the qualification"),
            "pass_share": _("Pass mark (share correct)"),
            "mismatched_share": _("Share of mismatched pairs among the questions"),
            "tries": _("Attempts per person"),
        }
        help_texts = {
            "gold_rate": _("Up to 50 %. 20 % means one task in five; 0 % means no gold."),
            "fast_share": _("0 % disables the check."),
            "test_length": _("The ViLMA paper uses at least 7."),
            "pass_share": _("The ViLMA paper uses 90 %."),
            "mismatched_share": _(
                "A mismatched pair comes with the video of another item, so the answer is “neither”."
            ),
        }

    def groups(self) -> list[tuple[Any, list[forms.BoundField]]]:
        """Return (heading, fields) as the page groups them."""
        named = (
            (_("Gold"), ("gold_rate", "gold_min", "careful_accuracy", "guess_accuracy", "false_pauses")),
            (_("Position and speed"), ("position_min", "fast_share", "fast_min")),
            (_("Practice and qualification"), ("test_length", "pass_share", "mismatched_share", "tries")),
            (_("Switches"), SWITCHES),
        )
        return [(heading, [self[name] for name in names]) for heading, names in named]


class PairsForm(forms.Form):
    """Choose what pairs are drawn from; the seed makes the draw repeatable."""

    subtest = forms.ModelChoiceField(Subtest.objects.none(), label=_("Valid items from"), empty_label=None)
    number = IntegerField(label=_("Number of pairs"), min_value=1, max_value=MAX_PAIRS_AT_ONCE, initial=10)
    mismatched = forms.BooleanField(
        label=_("Show each pair with another item's video (the answer is then “neither”)"), required=False
    )
    seed = IntegerField(label=_("Seed"), min_value=0, max_value=2**31 - 1, initial=0)
    explanation = forms.CharField(label=_("Explanation"), required=False, max_length=1000)

    def __init__(self, *args: Any, project: Project, use: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["subtest"].queryset = sources(project, use)
        self.fields["subtest"].label_from_instance = lambda subtest: f"{subtest.name} ({subtest.n_free})"
        if use != Use.PRACTICE:
            del self.fields["explanation"]


class PracticeForm(forms.Form):
    """Add a practice caption by its key."""

    key = forms.CharField(label=_("Caption key or video key"), max_length=200)
    examples = forms.CharField(
        label=_("Foils by an expert, one per line"), widget=forms.Textarea(attrs={"rows": 3}), max_length=4000
    )
    explanation = forms.CharField(label=_("Explanation"), required=False, max_length=1000)
    subtest = forms.ModelChoiceField(
        Subtest.objects.none(),
        label=_("Subtest"),
        required=False,
        help_text=_("People write as many foils as for its items. If its foils change the action, this is checked."),
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project
        self.fields["subtest"].queryset = Subtest.objects.filter(project=project)  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Return {"caption", "examples", "explanation", "subtest"}."""
        data = dict(self.cleaned_data)
        key = data.pop("key", "").strip()
        captions = Caption.objects.filter(video__project=self.project).select_related("video")
        caption = captions.filter(key=key).first() or captions.filter(video__key=key).order_by("pk").first()
        if key and caption is None:
            self.add_error("key", _("This project has no caption or video with this key. Check the key."))
        return {**data, "caption": caption, "examples": data.get("examples", "").splitlines()}


class MemberForm(forms.Form):
    """Name a person to add to the project, and their roles; the action reports errors."""

    username = forms.CharField(
        label=_("User name"),
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )
    roles = forms.MultipleChoiceField(label=_("Roles"), choices=Role.choices, widget=forms.CheckboxSelectMultiple)
    new_account = forms.BooleanField(
        label=_("Create a new account"),
        required=False,
        help_text=_("You see its temporary password once. Give it to the person."),
    )


class AssignmentForm(forms.Form):
    """Ask members for a number of tasks of a stage."""

    stage = forms.ChoiceField(
        label=_("Work"), choices=[(stage.value, stage.label) for stage in Stage if stage in ROLE_OF_STAGE]
    )
    people = forms.TypedMultipleChoiceField(label=_("People"), coerce=int, widget=forms.CheckboxSelectMultiple)
    quota = IntegerField(label=_("Tasks per person"), min_value=1, max_value=1_000_000)
    due = forms.DateField(label=_("Due date"), required=False, widget=forms.DateInput(attrs={"type": "date"}))
    team = forms.CharField(label=_("Team"), required=False, max_length=120, help_text=_("Shown beside each member."))

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        roles = Membership.objects.filter(project=project, role__in=ROLE_OF_STAGE.values(), person__is_active=True)
        # People of a platform have the tasks of their place.
        roles = roles.filter(person__crowd_workers=None).order_by("person__username", "role").distinct()
        labels: dict[tuple[int, str], list[str]] = {}
        for pk, name, role in roles.values_list("person", "person__username", "role"):
            labels.setdefault((pk, name), []).append(str(Role(role).label))
        self.fields["people"].choices = [(pk, f"{name} ({', '.join(held)})") for (pk, name), held in labels.items()]


class MemberFilter(Filters):
    """What filters the list of members; a value that is not a choice filters nothing."""

    chips = ("role", "paused")
    q = forms.CharField(
        label=_("Search names"),
        required=False,
        max_length=150,
        widget=forms.SearchInput(attrs={"placeholder": _("Search"), "data-hotkey": "/"}),
    )
    role = forms.ChoiceField(
        label=_("Role"), required=False, choices=[("", _("All")), *Role.choices], widget=forms.RadioSelect
    )
    paused = forms.BooleanField(label=_("Paused"), required=False)

    def __init__(self, data: Mapping[str, str]) -> None:
        super().__init__({**dict(data.items()), "role": data.get("role", "")})


UNITS = ((Unit.PIECE.value, _("per task")), (Unit.HOUR.value, _("per hour")))


def _amount(**fields: Any) -> DecimalField:
    widget = forms.TextInput(attrs={"class": "input"})
    return DecimalField(min_value=Decimal(0), max_digits=10, widget=widget, required=False, **fields)


class PayForm(forms.Form):
    """Set amounts per stage; a stage without an amount earns nothing."""

    currency = forms.CharField(label=_("Currency"), max_length=3, validators=[CURRENCY])
    floor = _amount(
        label=_("Minimum pay per hour"),
        decimal_places=2,
        help_text=_("You see a warning if the median hourly pay is lower. Leave empty to disable the check."),
    )

    def __init__(self, *args: Any, policy: PayPolicy, rates: dict[str, Rate], **kwargs: Any) -> None:
        super().__init__(*args, initial={"currency": policy.currency, "floor": policy.floor}, **kwargs)
        self.words = {stage: in_words(rate, policy.currency) for stage, rate in rates.items()}
        for stage in PAID:
            rate = rates.get(stage)
            label = Stage(stage).label
            self.fields[f"{stage}_amount"] = _amount(
                label=_("Amount for: %(stage)s") % {"stage": label},
                decimal_places=4,
                initial=rate and typed_amount(rate.amount),
            )
            self.fields[f"{stage}_unit"] = forms.ChoiceField(
                label=_("Unit for: %(stage)s") % {"stage": label},
                choices=UNITS,
                initial=rate and rate.unit,
                widget=forms.Select(attrs={"class": "input"}),
            )

    def rows(self) -> list[tuple[str, forms.BoundField, forms.BoundField, str]]:
        """Return (label, amount, unit, stored rate in words) of every stage that can be paid."""
        return [
            (Stage(stage).label, self[f"{stage}_amount"], self[f"{stage}_unit"], self.words.get(stage, ""))
            for stage in PAID
        ]

    def pay_settings(self) -> dict[str, Any]:
        """Return the arguments of set_pay; the form must be valid."""
        values = self.cleaned_data
        rates = {
            stage: Rate(values[f"{stage}_unit"], values[f"{stage}_amount"])
            for stage in PAID
            if values[f"{stage}_amount"] is not None
        }
        return {"currency": values["currency"], "floor": values["floor"], "rates": rates}


def _percent(**fields: Any) -> FloatField:
    return FloatField(min_value=0, max_value=100, **fields)


class ReviewSharesForm(forms.Form):
    """Set review shares; an annotator without a share of their own gets the project's."""

    rate = _percent(
        label=_("Edits to review (%)"),
        help_text=_("All other edits are accepted without review, and their provenance says so."),
    )
    second_share = _percent(
        label=_("Reviews to repeat (%)"),
        help_text=_(
            "A second reviewer decides without seeing the first decision. The second decision only measures agreement."
        ),
    )

    def __init__(self, *args: Any, policy: ReviewPolicy, shares: Sequence[AnnotatorShare], **kwargs: Any) -> None:
        initial = {"rate": _percent_text(policy.rate), "second_share": _percent_text(policy.second_share)}
        super().__init__(*args, initial=initial, **kwargs)
        self.people = [share.person for share in shares]
        for share in shares:
            own = "" if share.rate is None else _percent_text(share.rate)
            label = _("Edits of %(name)s to review (%%)") % {"name": share.person.username}
            self.fields[self.field_of(share.person)] = _percent(label=label, required=False, initial=own)

    @staticmethod
    def field_of(person: User) -> str:
        return f"own_{person.pk}"

    def shares(self) -> dict[str, Any]:
        """What set_review_shares takes; the form is valid."""
        values = self.cleaned_data
        own = {person.pk: values[self.field_of(person)] for person in self.people}
        return {
            "rate": values["rate"] / 100,
            "second_share": values["second_share"] / 100,
            "own_rates": {pk: percent / 100 for pk, percent in own.items() if percent is not None},
        }


def _percent_text(share: float) -> str:
    return f"{100 * share:g}"


MAX_SEED = 2**31 - 1


SEED_HELP = _("The same seed draws the same sample.")


class SeedField(IntegerField):
    """A seed; 0 if left empty."""

    def __init__(self) -> None:
        super().__init__(
            label=_("Seed"), min_value=0, max_value=MAX_SEED, initial=0, required=False, help_text=SEED_HELP
        )

    def clean(self, value: Any) -> int:
        return super().clean(value) or 0


class BaselineForm(forms.Form):
    """Choose the items, their number and the people per item."""

    release = forms.ModelChoiceField(
        label=_("Items from"), queryset=Release.objects.none(), required=False, empty_label=_("current valid items")
    )
    subtest = forms.ModelChoiceField(
        label=_("Subtest"), queryset=Subtest.objects.none(), required=False, empty_label=_("all main subtests")
    )
    size = IntegerField(
        label=_("Sample size (items)"), min_value=1, required=False, help_text=_("Leave empty to use all items.")
    )
    overlap = IntegerField(
        label=_("People per item"),
        min_value=1,
        max_value=MAX_OVERLAP,
        initial=1,
        help_text=_(
            "1 gives the accuracy of single people (Feint6K). 3 also gives the accuracy of their "
            "majority (contrast sets)."
        ),
    )
    seed = SeedField()

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["release"].queryset = Release.objects.filter(project=project)
        self.fields["subtest"].queryset = Subtest.objects.filter(project=project)


class ObjectCheckForm(forms.Form):
    """Choose the source of objects, the number of frames and the people per frame."""

    source = forms.ChoiceField(label=_("Objects from"))
    size = IntegerField(
        label=_("Sample size (frames)"),
        min_value=1,
        max_value=MAX_FRAMES,
        initial=FRAMES,
        help_text=_("One frame per video. The UTD paper uses 100."),
    )
    overlap = IntegerField(label=_("People per frame"), min_value=1, max_value=MAX_OVERLAP, initial=1)
    seed = SeedField()

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sources = FrameObjects.objects.filter(project=project).order_by("source").values_list("source", flat=True)
        self.fields["source"].choices = [(source, source) for source in sources.distinct()]


MIN_SHARE, MAX_SHARE = 0, 100


class CrowdStudyForm(forms.ModelForm):
    stage = forms.ChoiceField(
        label=_("Work"), choices=[(stage.value, stage.label) for stage in Stage if stage in ROLE_OF_STAGE]
    )
    approval = IntegerField(
        label=_("Min. approval rate (%)"),
        min_value=MIN_SHARE,
        max_value=MAX_SHARE,
        required=False,
        help_text=_(
            "Applies to the approval rate that the platform reports, and to gold accuracy in this project. "
            "Leave empty to accept everyone."
        ),
    )

    completion_url = forms.URLField(
        label=_("Return URL"),
        required=False,
        assume_scheme="https",
        help_text=_("People see this link next to their completion code."),
    )
    field_order = ("name", "platform", "platform_study", "stage", "pieces", "places", "minutes", "approval")

    class Meta:
        model = CrowdStudy
        formfield_callback = of_column
        fields = ["name", "platform", "platform_study", "pieces", "places", "minutes", "completion_code"]
        labels = {"minutes": _("Time limit (minutes)")}
        help_texts = {
            "platform_study": _("STUDY_ID from Prolific. Links from other studies are rejected."),
            "completion_code": _("The code that you set on Prolific. Leave empty to give each person their own code."),
            "minutes": _(
                "The time starts when a person takes a place. When the time is over, another person can take the place."
            ),
        }

    def fields_for_action(self) -> dict[str, Any]:
        """Return the fields that open_crowd_study takes."""
        values = dict(self.cleaned_data)
        percent = values.pop("approval")
        return {**values, "least_approval": None if percent is None else percent / MAX_SHARE}

    def _post_clean(self) -> None:
        """The action validates the row, whose role and project are not the form's."""


class CodeCheckForm(forms.Form):
    code = forms.CharField(
        label=_("Completion code"),
        max_length=64,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )


class CollectVotesForm(forms.Form):
    """Choose how many items of a published set validators are asked about."""

    sample = IntegerField(
        label=_("Items"),
        required=False,
        min_value=1,
        help_text=_("Size of the random sample. Leave empty to use all items."),
    )
