"""The form of the page that proposes pairs."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from foilworks.core.corpus.models import Subtest
from foilworks.core.projects.models import Project
from generation.pairs.proposals import NATURAL, ORDER, REPETITION, REVERSAL, SPEED


class ProposeForm(forms.Form):
    """Choose the kind of pairs, and the subtest of their items."""

    kind = forms.ChoiceField(
        label=_("Kind"),
        choices=[
            (NATURAL, _("natural: two clips whose captions differ in one word")),
            (REVERSAL, _("reversal: a clip, and the same clip played backwards")),
            (ORDER, _("order: two trims of one video, in both orders")),
            (SPEED, _("speed: a clip, and the same clip slower or faster")),
            (REPETITION, _("repetition: a clip of one event, played two and three times")),
        ],
        widget=forms.RadioSelect,
        initial=NATURAL,
    )
    subtest = forms.ModelChoiceField(
        label=_("Subtest"),
        queryset=Subtest.objects.none(),
        empty_label=None,
        help_text=_("Main subtests with one foil per item, whose items collect votes."),
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["subtest"].queryset = subtests_for_pairs(project)  # type: ignore[attr-defined]


def subtests_for_pairs(project: Project) -> Any:
    """Return the subtests that `check_subtest` accepts."""
    rows = Subtest.objects.filter(project=project, kind=Subtest.Kind.MAIN, foils_per_item=1, votes_wanted__gt=0)
    return rows.order_by("name")
