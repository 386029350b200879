"""The form of a run's thresholds."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.number_fields import FloatField
from generation.filters.registry import FILTERS
from generation.models import GenerationRun
from generation.thresholds.registry import movable


class ThresholdForm(forms.Form):
    """The form of thresholds: one number per movable filter. An empty field keeps the filter's verdicts."""

    def __init__(self, run: GenerationRun, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data, initial=run.thresholds)
        for slug, threshold in movable(run.filters).items():
            label = _(FILTERS[slug].label) if slug in FILTERS else slug
            field = FloatField(label=label, required=False)
            field.widget.attrs["aria-describedby"] = f"passes-{slug}"
            field.help_text = _("passes %(side)s") % {"side": threshold.words}
            self.fields[slug] = field

    def thresholds(self) -> dict[str, float]:
        """Return the thresholds that are set; for an unbound form, the run's own."""
        values = self.cleaned_data if self.is_bound and self.is_valid() else self.initial
        return {slug: values[slug] for slug in self.fields if values.get(slug) is not None}
