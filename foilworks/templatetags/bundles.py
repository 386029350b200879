"""{% bundle "work.js" %}: the address of a bundle."""

from django import template
from django.templatetags.static import static

from foilworks.static_bundles import bundle_path

register = template.Library()


@register.simple_tag
def bundle(name: str) -> str:
    return static(bundle_path(name))
