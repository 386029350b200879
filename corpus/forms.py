"""Forms of the corpus pages."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from corpus.actions.create_subtest import default_foils
from corpus.models import MediaState, Split, Subtest, Video
from projects.models import Project


class VideoFilter(forms.Form):
    """What narrows the list; a value that is not a choice narrows nothing."""

    q = forms.CharField(label=_("Find"), required=False, max_length=200)
    media = forms.ChoiceField(label=_("File"), required=False, choices=[("", _("any state")), *MediaState.choices])
    split = forms.ChoiceField(
        label=_("Split"), required=False, choices=[("", _("any split")), *[c for c in Split.choices if c[0]]]
    )

    def chosen(self) -> dict[str, str]:
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value}

    def narrow(self, videos: QuerySet[Video]) -> QuerySet[Video]:
        chosen = self.chosen()
        if text := chosen.get("q"):
            videos = videos.filter(
                Q(key__icontains=text) | Q(source_id__icontains=text) | Q(captions__text__icontains=text)
            )
        if state := chosen.get("media"):
            videos = videos.filter(media_state=state)
        if split := chosen.get("split"):
            videos = videos.filter(split=split)
        return videos.distinct()

    def query(self) -> str:
        """The chosen values for links of other pages: empty, or ending in `&`."""
        chosen = self.chosen()
        return f"{urlencode(chosen)}&" if chosen else ""


# More of anything that is asked for each item is a slip of the finger, and would be made at once.
MAX_PER_ITEM = 99


class VoteRuleForm(forms.ModelForm):
    """What it takes an item to be valid, said in votes."""

    class Meta:
        model = Subtest
        fields = ["votes_wanted", "votes_needed", "stop_early", "valid_when", "foils_enough"]
        labels = {
            "votes_wanted": _("Votes wanted for a pair"),
            "votes_needed": _("Votes for the caption that make it valid"),
            "stop_early": _("Stop asking once no further vote can turn a pair"),
            "valid_when": _("An item is valid when"),
            "foils_enough": _("Valid pairs that are enough"),
        }
        help_texts = {
            "votes_wanted": _(
                "ViLMA: 3 for main items, 1 for proficiency items; 0: valid without a vote. So many people have to be "
                "able to judge each pair."
            ),
            "stop_early": _("Saves votes; whether all would have agreed is then not known."),
            "foils_enough": _("Only read where enough valid pairs make the item valid."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("votes_wanted", "votes_needed", "foils_enough"):
            self.at_most(name)
        self.fields["foils_enough"].validators.append(MinValueValidator(1))
        self.fields["foils_enough"].widget.attrs["min"] = 1

    def at_most(self, name: str, most: int = MAX_PER_ITEM) -> None:
        self.fields[name].validators.append(MaxValueValidator(most))
        self.fields[name].widget.attrs["max"] = most

    def clean(self) -> dict[str, Any]:
        wanted, needed = self.cleaned_data.get("votes_wanted"), self.cleaned_data.get("votes_needed")
        if wanted is not None and needed is not None and needed > wanted:
            self.add_error(
                "votes_needed", _("More votes are needed than are asked for; lower this or raise the other.")
            )
        return self.cleaned_data


class SubtestForm(VoteRuleForm):
    """The name is unique in the project."""

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
            "proficiency_subtest": _("Its proficiency subtest"),
            "changes": _("What foils change"),
            "foils_per_item": _("Foils an item"),
            **VoteRuleForm.Meta.labels,
        }
        help_texts = {
            "foils_per_item": _("Left empty: 5 where foils change the action (Feint6K), else 1."),
            "proficiency_subtest": _("Items look there for the simpler skill on the same video."),
            **VoteRuleForm.Meta.help_texts,
            "votes_needed": _("Both can be changed until somebody has been shown a pair."),
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

    def clean_name(self) -> str:
        name = self.cleaned_data["name"].strip()
        if Subtest.objects.filter(project=self.project, name=name).exists():
            raise forms.ValidationError(_("This project has a subtest of that name; choose another."))
        return name

    def clean_foils_per_item(self) -> int:
        given = self.cleaned_data["foils_per_item"]
        if given is None:
            return default_foils(self.cleaned_data.get("changes", ""))
        if given < 1:
            raise forms.ValidationError(_("An item needs at least one foil."))
        return given
