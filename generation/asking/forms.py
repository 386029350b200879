"""What the forms of runs offer where an instruction model is asked: the configured endpoints, the prompts there are."""

from django import forms
from django.utils.translation import gettext as _

from generation.asking import endpoints
from generation.asking.prompt_rows import prompt_ids
from generation.errors import GenerationError
from projects.forms.registry_entry import EntryForm
from projects.models import Project


def offer_choices(form: EntryForm, project: Project | None, *, makes: str) -> None:
    """Put choices in place of free text; nothing happens for parameters that ask no model. `makes`: see Prompt."""
    if not endpoints.asks_a_model({param.name: None for param in form.entry.params}):
        return
    known = endpoints.configured()
    models = "; ".join(f"{one.name}: {', '.join(one.models)}" for one in known.values())
    _choose(form, "endpoint", [("", _("none: a local model")), *[(name, name) for name in known]])
    if not known:
        form.fields["endpoint"].help_text = _("None is configured: the operator sets CHAT_ENDPOINTS (README).")
    ids = prompt_ids(project, makes=makes)
    _choose(form, "template", [(one, one) for one in ids])
    if models:
        form.fields["model"].help_text += f" ({models})"


def _choose(form: EntryForm, name: str, choices: list[tuple[str, str]]) -> None:
    old = form.fields[name]
    form.fields[name] = forms.ChoiceField(
        choices=choices, required=False, label=old.label, help_text=old.help_text, initial=old.initial
    )


def check_asking(form: EntryForm) -> bool:
    """False, with the reason beside the fields, where what a valid form asks for cannot be asked."""
    if not endpoints.asks_a_model(form.values()):
        return True
    try:
        endpoints.checked(form.values())
    except GenerationError as error:
        form.add_error(None, str(error))
        return False
    return True
