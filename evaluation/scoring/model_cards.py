"""Cards of the models that a project scored."""

from collections.abc import Mapping
from typing import Any

from evaluation.scoring.models import ModelCard, Run
from projects.models import Project

# What an adapter may say of itself (hub.interfaces.ModelInfo.card), as far as a card holds it.
FIELDS = ("category", "adaptation", "size", "pretraining_data", "objectives", "url", "notes")


def cards_of(project: Project) -> dict[str, ModelCard]:
    """By model key. One query."""
    return {card.model_key: card for card in ModelCard.objects.filter(project=project)}


def card_of(run: Run) -> ModelCard:
    """The card of the run's model; an unsaved empty one where nobody wrote any."""
    project = run.release.project
    found = ModelCard.objects.filter(project=project, model_key=run.model_key).first()
    return found or ModelCard(project=project, model_key=run.model_key)


# How adapters name their category, where it is not our word for it.
CATEGORIES = {"image-text": "image", "video-text": "video"}


def stated(card: Mapping[str, object]) -> dict[str, Any]:
    """What an adapter's own card says in a form that ours can hold; anything else is left for a person."""
    found = {name: str(card[name]) for name in FIELDS if isinstance(card.get(name), str | int | float)}
    found["category"] = CATEGORIES.get(found.get("category", ""), found.get("category", ""))
    for name, choices in (("category", ModelCard.Category), ("adaptation", ModelCard.Adaptation)):
        if found.get(name) not in choices.values:
            found.pop(name, None)
    return {name: text[: ModelCard._meta.get_field(name).max_length] for name, text in found.items()}
