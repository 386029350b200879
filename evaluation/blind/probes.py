"""Names of the blind probes, as pages show them."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

PROBES = {
    "classifier": _("classifier of words"),
    "longer": _("the longer text"),
    "shorter": _("the shorter text"),
}


def named_probes(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the gate with its probes in words."""
    return {
        **row,
        "probes": [{**probe, "words": PROBES.get(probe["probe"], probe["probe"])} for probe in row["probes"]],
    }
