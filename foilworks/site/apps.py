from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from foilworks.core import rooms


class FoilworksConfig(rooms.AppOfRooms):
    """The tables of its rooms belong to the app `evaluation`, where they were before the rooms moved here."""

    name = "foilworks.site"
    label = "foilworks"
    verbose_name = "Foilworks"

    def ready(self) -> None:
        super().ready()
        _hide_invalid_choices()
        if settings.SENTRY_DSN:
            from foilworks.site.monitoring.logs import report_errors

            report_errors(settings.SENTRY_DSN)


def _hide_invalid_choices() -> None:
    """Replace Django's message for an invalid choice, which repeats the choice at any length."""
    words = _("Select a valid choice. That choice is not one of the available choices.")
    forms.ChoiceField.default_error_messages["invalid_choice"] = words
    forms.MultipleChoiceField.default_error_messages["invalid_choice"] = words
    for name in ("invalid_choice", "invalid_pk_value"):
        forms.ModelMultipleChoiceField.default_error_messages[name] = words
