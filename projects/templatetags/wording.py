"""Words of the code as people read them."""

from django import template

register = template.Library()


@register.filter
def spaced(code: str) -> str:
    """`in_review` as "in review": states keep the vocabulary of the code, without its underscores."""
    return str(code).replace("_", " ")
