"""Forms for instruction models: the endpoints and prompts of a run, and the form of a prompt."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.forms.registry_entry import EntryForm
from foilworks.core.projects.models import Project
from foilworks.core.text.quoting import shortened
from generation.errors import GenerationError
from generation.instruction_models import endpoints
from generation.instruction_models.prompt_rows import prompt_ids
from generation.instruction_models.prompts import QUESTION, Example, Prompt


def offer_choices(form: EntryForm, project: Project | None, *, makes: str) -> None:
    """Offer choices instead of free text, if the parameters belong to an instruction model. `makes`: see Prompt."""
    if not endpoints.asks_a_model({param.name: None for param in form.entry.params}):
        return
    endpoints_by_name = endpoints.configured()
    models = "; ".join(f"{endpoint.name}: {', '.join(endpoint.models)}" for endpoint in endpoints_by_name.values())
    _choose(form, "endpoint", [("", _("none (local model)")), *[(name, name) for name in endpoints_by_name]])
    if not endpoints_by_name:
        form.fields["endpoint"].help_text = _("No endpoint is configured. An operator can set CHAT_ENDPOINTS.")
    ids = prompt_ids(project, makes=makes)
    _choose(form, "template", [(prompt_id, prompt_id) for prompt_id in ids])
    form.fields["template"].widget.attrs["translate"] = "no"
    if models:
        form.fields["model"].help_text += f" ({models})"


def _choose(form: EntryForm, name: str, choices: list[tuple[str, str]]) -> None:
    old = form.fields[name]
    form.fields[name] = forms.ChoiceField(
        choices=choices, required=False, label=old.label, help_text=old.help_text, initial=old.initial
    )


def check_asking(form: EntryForm) -> bool:
    """Return whether a valid form's endpoint and prompt can be used; if not, add errors to its fields."""
    if not endpoints.asks_a_model(form.values()):
        return True
    try:
        endpoints.checked(form.values())
    except GenerationError as error:
        form.add_error(None, str(error))
        return False
    return True


class PromptForm(forms.Form):
    slug = forms.SlugField(label=_("Name"), max_length=40, help_text=_("Lowercase letters, digits and hyphens."))
    system = forms.CharField(
        label=_("Instruction"), required=False, widget=forms.Textarea(attrs={"rows": 8}), max_length=20_000
    )
    question = forms.CharField(
        label=_("Question"),
        widget=forms.Textarea(attrs={"rows": 3}),
        max_length=5_000,
        initial=QUESTION,
        help_text=_("{caption} is replaced by the caption, and {k} by the number of foils."),
    )
    examples = forms.CharField(
        label=_("Examples"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 12}),
        max_length=50_000,
        help_text=_("A caption, then its foils, one per line. Add a blank line before the next caption."),
    )

    def clean_examples(self) -> list[Example]:
        return parse_examples(self.cleaned_data["examples"])


def parse_examples(text: str) -> list[Example]:
    """Parse the examples of a prompt. ValidationError names a caption without a foil."""
    examples: list[Example] = []
    for block in text.replace("\r\n", "\n").split("\n\n"):
        lines = [" ".join(line.split()) for line in block.splitlines() if line.strip()]
        if not lines:
            continue
        if len(lines) == 1:
            raise forms.ValidationError(
                _("“%(caption)s” has no foil below it. Add at least one foil on the next line.")
                % {"caption": shortened(lines[0])}
            )
        examples.append((lines[0], tuple(lines[1:])))
    return examples


def as_initial(prompt: Prompt) -> dict[str, Any]:
    """Return a prompt as initial values of the form."""
    blocks = ["\n".join((caption, *foils)) for caption, foils in prompt.examples]
    return {"system": prompt.system, "question": prompt.question, "examples": "\n\n".join(blocks)}
