"""Define the forms of a plan and of a target."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.forms.registry_entry import EntryForm
from foilworks.core.projects.number_fields import IntegerField, ShareField
from foilworks.site.dashboard.actions.target import MOST
from foilworks.site.dashboard.models import StudyTarget
from foilworks.site.dashboard.planning import PLAN

# Labels that say more than the names, which are those of the command.
LABELS = {
    "models": _("Models to compare"),
    "difference": _("Difference to detect"),
    "model_agreement": _("Agreement of two models"),
    "similarity": _("Similarity of items of a video"),
    "validity": _("Share of valid items"),
    "vote_agreement": _("Agreement of two validators"),
    "votes_needed": _("Votes that decide"),
    "full_share": _("Share judged in full"),
    "votes_max": _("Max. votes of a divided pair"),
    "divided": _("Share of divided pairs"),
    "hours_per_person": _("Hours per validator"),
    "budget": _("Budget for pay"),
}


# Shares, which the page shows as per cent, with help in the same unit.
SHARES = {
    "difference": _("Smallest difference in accuracy to detect, in points. 5 %: such as 70 % against 75 %."),
    "model_agreement": _("Items on which two models are both right or both wrong. Usual: 80 %."),
    "power": _("Probability of detecting the difference, if it exists. 80 %: 8 of 10 such studies find it."),
    "validity": _("Items that validators will find valid. 80 %: 100 judged items give 80."),
    "vote_agreement": _("Probability that two validators give the same answer."),
    "full_share": _("Items that get all votes although others stop early."),
    "divided": _("Pairs whose first votes decide nothing. 5 %: 5 of 100 pairs."),
}
# Starting points of a plan: the question, and the values that it changes.
PRESETS: tuple[tuple[Any, dict[str, float]], ...] = (
    (_("Large differences, fast"), {"difference": 0.1, "power": 0.8}),
    (_("Usual"), {"difference": 0.05, "power": 0.8}),
    (_("Small differences, sure"), {"difference": 0.02, "power": 0.9}),
)
# Fields by subject; the others are votes that stop or are added.
GROUPS = (
    (_("What to show"), ("models", "difference", "power", "model_agreement")),
    (_("Items"), ("items_per_video", "similarity", "validity", "pairs_per_item")),
    (_("Votes"), ("vote_agreement", "votes_per_pair", "votes_needed")),
    (_("Time and pay"), ("seconds_per_vote", "hours_per_person", "hourly_pay", "budget")),
)
# Values of votes that stop or are added.
STOPPING = ("stop_early", "full_share", "votes_max", "divided")


class PlanForm(EntryForm):
    """The values of a plan: those of the address, else those that the project knows, else the defaults."""

    def __init__(self, pilot_values: Mapping[str, Any], data: Mapping[str, Any]) -> None:
        defaults = {param.name: _shown(pilot_values.get(param.name, param.default)) for param in PLAN.params}
        values = {name: data.get(name, value) for name, value in defaults.items()}
        # An unchecked box is absent from an address with other values.
        if data and "stop_early" not in data:
            values["stop_early"] = False
        super().__init__(PLAN, values, prefix="")
        # Each field has a value at first, so none is marked as optional.
        for name, help_text in SHARES.items():
            self.fields[name] = ShareField(initial=self.fields[name].initial, help_text=help_text)
        for name, field in self.fields.items():
            field.required = not isinstance(field, forms.BooleanField)
            field.label = LABELS.get(name, field.label)

    def groups(self) -> list[tuple[Any, list[forms.BoundField]]]:
        """Return (heading, fields) as the page groups them."""
        return [(heading, [self[name] for name in names]) for heading, names in GROUPS]

    def presets(self) -> list[tuple[Any, str]]:
        """Return (label, query): the present values with those of each starting point."""
        present = {name: self[name].value() for name in self.fields}
        present |= {"stop_early": "on"} if present.pop("stop_early") else {}
        return [(label, urlencode({**present, **values})) for label, values in PRESETS]

    def stopping(self) -> list[forms.BoundField]:
        return [field for field in self if field.name in STOPPING]

    def is_stopping_open(self) -> bool:
        return any(field.errors for field in self.stopping())

    def add_problem(self, error: Exception, field: str | None = None) -> None:
        """Add the problem to the field that it names first, without the name that only the command uses."""
        name, colon, problem = str(error).partition(": ")
        if colon and name in self.fields:
            self.add_error(name, problem[:1].upper() + problem[1:] + ".")
        else:
            super().add_problem(error, field)


class TargetForm(forms.Form):
    """The target of the project: the stored one, else what the plan needs."""

    items = IntegerField(
        label=_("Items to judge"), min_value=0, max_value=MOST, help_text=_("0 removes the target from the overview.")
    )
    votes = IntegerField(
        label=_("Budget of votes"),
        min_value=0,
        max_value=MOST,
        help_text=_("Votes on main items, with those so far. 0: no limit."),
    )

    def __init__(
        self,
        data: Mapping[str, Any] | None,
        stored_target: StudyTarget | None,
        planned: Mapping[str, Any] | None = None,
    ) -> None:
        target: Any = {"items": stored_target.items, "votes": stored_target.votes} if stored_target else None
        if target is None and planned:
            target = {"items": planned["judged"], "votes": planned["votes"]}
        super().__init__(data, initial=target or {}, prefix="target")


def _shown(value: Any) -> Any:
    return round(value, 3) if isinstance(value, float) else value
