"""Forms of the corpus pages."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from foilworks.core.corpus.actions.create_subtest import default_foils
from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.characters import characters_in
from foilworks.core.corpus.models import Caption, MediaState, Split, Subtest, Video
from foilworks.core.projects.listing.filters import Filters
from foilworks.core.projects.listing.keyset import Order
from foilworks.core.projects.models import Project
from foilworks.core.projects.number_fields import of_column

# Orders of the index of (project, key).
VIDEO_ORDERS = (Order("key", _("Name A–Z"), ("key",)), Order("key-down", _("Name Z–A"), ("key",), descending=True))


class CharactersForm(forms.Form):
    """A list of characters: a file, or after its preview the text of the file. `by_movie` is what it says."""

    characters = forms.FileField(
        label=_("List of characters"),
        required=False,
        max_length=255,
        help_text=_(
            "Tab-separated, with the columns movie, name, gender and optionally aliases, which are separated by |. "
            "Max. 1 MB."
        ),
    )
    text = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["characters"].required = not self.data.get("text")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        upload = cleaned.get("characters")
        if self.errors:
            return cleaned
        name = upload.name if upload else "characters.tsv"
        try:
            cleaned["text"] = upload.read().decode("utf-8-sig") if upload else cleaned.get("text", "")
            self.by_movie = characters_in(cleaned["text"], name)
        except UnicodeDecodeError:
            self.add_error("characters", _("The file is not UTF-8 text. Save it as UTF-8 and upload it again."))
        except CorpusError as error:
            self.add_error("characters", str(error))
        else:
            if not self.by_movie:
                self.add_error("characters", _("The list has no characters. Upload a file with at least one row."))
        return cleaned


class VideoFilter(Filters):
    """What filters the list of videos; a value that is not a choice filters nothing."""

    chips = ("media",)
    q = forms.CharField(
        label=_("Search keys, sources and captions"),
        required=False,
        max_length=200,
        widget=forms.SearchInput(attrs={"placeholder": _("Search"), "data-hotkey": "/"}),
    )
    media = forms.ChoiceField(
        label=_("File"), required=False, choices=[("", _("All")), *MediaState.choices], widget=forms.RadioSelect
    )
    split = forms.ChoiceField(
        label=_("Split"), required=False, choices=[("", _("any split")), *[c for c in Split.choices if c[0]]]
    )

    def __init__(self, data: Mapping[str, str], *, is_open: bool = False) -> None:
        super().__init__({**dict(data.items()), "media": data.get("media", "")}, is_open=is_open)

    def narrow(self, videos: QuerySet[Video]) -> QuerySet[Video]:
        values = self.chosen()
        if text := values.get("q"):
            in_captions = Exists(Caption.objects.filter(video=OuterRef("pk"), text__icontains=text))
            videos = videos.filter(Q(key__icontains=text) | Q(source_id__icontains=text) | in_captions)
        if state := values.get("media"):
            videos = videos.filter(media_state=state)
        if split := values.get("split"):
            videos = videos.filter(split=split)
        return videos


# A larger number per item is a typing error, and its tasks would be created at once.
MAX_PER_ITEM = 99
# Share of items that a form suggests to judge in full if votes stop early.
USUAL_FULL_SHARE = 0.1


class VoteRuleForm(forms.ModelForm):
    """The votes that make an item valid."""

    class Meta:
        model = Subtest
        formfield_callback = of_column
        fields = [
            "votes_wanted",
            "votes_needed",
            "stop_early",
            "full_share",
            "votes_max",
            "skilled_first",
            "valid_when",
            "foils_enough",
        ]
        labels = {
            "votes_wanted": _("Votes per pair"),
            "votes_needed": _("Required votes for the caption"),
            "stop_early": _("Stop when no further vote can change the result of a pair"),
            "full_share": _("Share of items judged in full"),
            "votes_max": _("Max. votes of a pair without a decision"),
            "skilled_first": _("Ask skilled validators first for additional votes"),
            "valid_when": _("An item is valid if"),
            "foils_enough": _("Min. valid pairs"),
        }
        help_texts = {
            "votes_wanted": _(
                "ViLMA: 3 for main items, 1 for proficiency items. 0: valid without votes. You need at "
                "least this many people who can judge each pair."
            ),
            "votes_needed": _(
                "Votes that say that only the caption is true. 2 of 3: two people must say so. Any other answer with "
                "as many votes makes the pair invalid."
            ),
            "stop_early": _(
                "Saves votes: with 2 of 3, a pair gets no third vote if the first two agree. This saved 16 % of the "
                "votes of ViLMA. No result changes, but you do not learn whether the votes would have been unanimous."
            ),
            "full_share": _(
                "0 to 1. Used only if votes stop early. 0.1: one item in ten, drawn at random, gets all votes. "
                "Agreement and position bias are measured on these alone, because pairs that stop early hide "
                "disagreement. With 0, they are biased."
            ),
            "votes_max": _(
                "With 2 of 3, three different answers decide nothing. Enter 5, and such a pair gets up to 5 votes; "
                "an answer then needs 3 of 5. 0: no more votes, and the pair goes to an adjudicator."
            ),
            "skilled_first": _(
                "Used only if a pair can get additional votes. For a day, only the half of the validators that "
                "agrees best with the others can give them (skill by Dawid-Skene, from 20 votes per person). "
                "Save the rules under Quality → Rules, gold, practice first; without them, everybody is asked."
            ),
            "foils_enough": _("Used only if an item is valid as soon as enough of its pairs are."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("votes_wanted", "votes_needed", "votes_max", "foils_enough"):
            self.at_most(name)
        for name in ("full_share", "votes_max"):
            self.fields[name].required = False
        if not self.instance.stop_early:
            self.initial["full_share"] = USUAL_FULL_SHARE
        self.fields["foils_enough"].validators.append(MinValueValidator(1))

    def at_most(self, name: str, limit: int = MAX_PER_ITEM) -> None:
        self.fields[name].validators.append(MaxValueValidator(limit))

    def clean(self) -> dict[str, Any]:
        votes_per_pair, required_votes = self.cleaned_data.get("votes_wanted"), self.cleaned_data.get("votes_needed")
        if votes_per_pair is not None and required_votes is not None and required_votes > votes_per_pair:
            self.add_error(
                "votes_needed",
                _(
                    "The required votes are more than the votes per pair. Lower this number "
                    "or raise the votes per pair."
                ),
            )
        max_votes = self.cleaned_data.get("votes_max")
        if max_votes and votes_per_pair is not None and max_votes <= votes_per_pair:
            problem = _("%(most)s is not more than the %(wanted)s votes per pair. Enter a larger number, or 0.")
            self.add_error("votes_max", problem % {"most": max_votes, "wanted": votes_per_pair})
        return self.cleaned_data

    def clean_full_share(self) -> float:
        return self.cleaned_data["full_share"] or 0.0

    def clean_votes_max(self) -> int:
        return self.cleaned_data["votes_max"] or 0


# What a first subtest needs; every other field has a default that can be kept.
MAIN_FIELDS = ("name", "kind", "votes_wanted", "votes_needed")


class SubtestForm(VoteRuleForm):
    """Create a subtest; its name is unique in the project."""

    class Meta(VoteRuleForm.Meta):
        fields = [
            "name",
            "test",
            "kind",
            "proficiency_subtest",
            "changes",
            "foils_per_item",
            *VoteRuleForm.Meta.fields,
        ]
        labels = {
            "name": _("Name"),
            "test": _("Test"),
            "kind": _("Kind"),
            "proficiency_subtest": _("Proficiency subtest"),
            "changes": _("Foils change"),
            "foils_per_item": _("Foils per item"),
            **VoteRuleForm.Meta.labels,
        }
        help_texts = {
            "foils_per_item": _("If empty: 5 if foils change the action (Feint6K), otherwise 1."),
            "proficiency_subtest": _("Contains the items that test the simpler skill on the same videos."),
            **VoteRuleForm.Meta.help_texts,
            "votes_needed": _(
                "Votes that say that only the caption is true. 2 of 3: two people must say so. You can change both "
                "numbers until someone has seen a pair."
            ),
        }

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project
        self.at_most("foils_per_item")
        self.fields["foils_per_item"].required = False
        self.fields["foils_per_item"].initial = None
        self.initial.pop("foils_per_item", None)
        proficiency = Subtest.objects.filter(project=project, kind=Subtest.Kind.PROFICIENCY)
        self.fields["proficiency_subtest"].queryset = proficiency
        self.fields["proficiency_subtest"].empty_label = _("none")

    @property
    def main_fields(self) -> list[forms.BoundField]:
        """Return what a first subtest needs; the page folds the other fields."""
        return [self[name] for name in MAIN_FIELDS]

    @property
    def more_fields(self) -> list[forms.BoundField]:
        return [field for field in self if field.name not in MAIN_FIELDS]

    @property
    def has_more_errors(self) -> bool:
        return any(field.errors for field in self.more_fields)

    def clean_name(self) -> str:
        name = self.cleaned_data["name"].strip()
        if Subtest.objects.filter(project=self.project, name=name).exists():
            raise forms.ValidationError(
                _("A subtest with this name already exists in this project. Choose another name.")
            )
        return name

    def clean_foils_per_item(self) -> int:
        n_foils = self.cleaned_data["foils_per_item"]
        if n_foils is None:
            return default_foils(self.cleaned_data.get("changes", ""))
        if n_foils < 1:
            raise forms.ValidationError(_("An item needs at least one foil."))
        return n_foils
