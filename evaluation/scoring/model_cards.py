"""Load and fill the cards of the models that a project scored."""

from collections.abc import Mapping
from typing import Any

from evaluation.scoring.models import ModelCard, Run
from foilworks.core.projects.models import Project

# Fields of an adapter's own card (foilworks.core.hub.interfaces.ModelInfo.card) that a card can hold.
FIELDS = ("category", "adaptation", "size", "pretraining_data", "objectives", "url", "notes")


def cards_of(project: Project) -> dict[str, ModelCard]:
    """Return cards by model key. One query."""
    return {card.model_key: card for card in ModelCard.objects.filter(project=project)}


def card_of(run: Run) -> ModelCard:
    """Return the card of the run's model; an unsaved empty one if there is none."""
    project = run.release.project
    card = ModelCard.objects.filter(project=project, model_key=run.model_key).first()
    return card or ModelCard(project=project, model_key=run.model_key)


# Categories of adapters whose name differs from ours.
CATEGORIES = {"image-text": "image", "video-text": "video"}


def stated(card: Mapping[str, object]) -> dict[str, Any]:
    """Return the fields of an adapter's own card that ours can hold; a person fills in the rest."""
    fields = {name: str(card[name]) for name in FIELDS if isinstance(card.get(name), str | int | float)}
    fields["category"] = CATEGORIES.get(fields.get("category", ""), fields.get("category", ""))
    for name, choices in (("category", ModelCard.Category), ("adaptation", ModelCard.Adaptation)):
        if fields.get(name) not in choices.values:
            fields.pop(name, None)
    return {name: text[: ModelCard._meta.get_field(name).max_length] for name, text in fields.items()}
