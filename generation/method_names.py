"""Labels of methods by their slugs."""

from django.utils.translation import gettext as _

from generation.methods.registry import METHODS


def method_label(slug: str) -> str:
    """Return the label of a method; the slug itself if the method is no longer installed."""
    return _(METHODS[slug].label) if slug in METHODS else slug
