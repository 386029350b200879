"""Define the forms of a plan and of a target."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.forms.registry_entry import EntryForm
from foilworks.core.projects.number_fields import IntegerField
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
        for name, field in self.fields.items():
            field.required = not isinstance(field, forms.BooleanField)
            field.label = LABELS.get(name, field.label)

    def usual(self) -> list[forms.BoundField]:
        return [field for field in self if field.name not in STOPPING]

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
