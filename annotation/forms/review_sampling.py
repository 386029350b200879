"""The form of the shares of work that are reviewed, in per cent as people say them."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.models import ReviewPolicy
from annotation.queries.review_sampling import AnnotatorShare
from projects.models import User


def _percent(**fields: Any) -> forms.FloatField:
    widget = forms.NumberInput(attrs={"min": 0, "max": 100, "step": "any", "inputmode": "decimal"})
    return forms.FloatField(min_value=0, max_value=100, widget=widget, **fields)


class ReviewSharesForm(forms.Form):
    """An annotator's own share left empty means the project's."""

    rate = _percent(
        label=_("Reviewed, per cent of the edits"),
        help_text=_("What is not drawn is accepted by rule, and marked as unreviewed in its provenance."),
    )
    second_share = _percent(
        label=_("Reviewed twice, per cent of the reviews"),
        help_text=_("A second reviewer decides without knowing of the first; it changes nothing and gives agreement."),
    )

    def __init__(self, *args: Any, policy: ReviewPolicy, shares: Sequence[AnnotatorShare], **kwargs: Any) -> None:
        initial = {"rate": _shown(policy.rate), "second_share": _shown(policy.second_share)}
        super().__init__(*args, initial=initial, **kwargs)
        self.people = [share.person for share in shares]
        for share in shares:
            own = "" if share.rate is None else _shown(share.rate)
            label = _("Reviewed, per cent of the edits of %(name)s") % {"name": share.person.username}
            self.fields[self.field_of(share.person)] = _percent(label=label, required=False, initial=own)

    @staticmethod
    def field_of(person: User) -> str:
        return f"own_{person.pk}"

    def shares(self) -> dict[str, Any]:
        """What set_review_shares takes; the form is valid."""
        given = self.cleaned_data
        own = {person.pk: given[self.field_of(person)] for person in self.people}
        return {
            "rate": given["rate"] / 100,
            "second_share": given["second_share"] / 100,
            "own_rates": {pk: percent / 100 for pk, percent in own.items() if percent is not None},
        }


def _shown(share: float) -> str:
    return f"{100 * share:g}"
