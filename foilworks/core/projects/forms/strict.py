"""Forms of strangers: a field that the page does not have is not a mistake of theirs."""

from collections.abc import Iterable

from django import forms
from django.http import HttpRequest
from django.utils.translation import gettext as _

from foilworks.core.projects.errors import EntryRefused
from foilworks.core.projects.models import Project

OF_EVERY_FORM = frozenset({"csrfmiddlewaretoken", "idempotency_key", "next"})


def refuse_other_fields(
    request: HttpRequest, form: forms.Form | None, *names: str, project: Project | None = None
) -> None:
    """EntryRefused where the request posts a field (`role`, `is_superuser` …) that neither `form` nor `names` has."""
    allowed = OF_EVERY_FORM | set(names) | set(form.fields if form else ())
    unexpected: Iterable[str] = sorted(set(request.POST) - allowed)
    if unexpected:
        listed = ", ".join(name[:40] for name in unexpected)[:200]
        raise EntryRefused(
            _("This form has no such fields: %(fields)s. Reload the page and submit the form again.")
            % {"fields": listed},
            f"fields: {listed}",
            project=project,
        )
