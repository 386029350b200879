"""Format seconds for people."""

from django import template
from django.utils.formats import get_format
from django.utils.translation import gettext as _

register = template.Library()


@register.filter
def duration(seconds: float | None) -> str:
    """Format as 0.4 s, 12 s, 3 min 20 s, 5 h 10 min, 2 d 3 h; a dash if there is none."""
    if seconds is None or seconds == "":
        return "–"
    if seconds < 10:
        return (_("%(n).1f s") % {"n": seconds}).replace(".", get_format("DECIMAL_SEPARATOR"))
    if seconds < 60:
        return _("%(n)d s") % {"n": seconds}
    if seconds < 3600:
        return _("%(minutes)d min %(seconds)d s") % {"minutes": seconds // 60, "seconds": seconds % 60}
    if seconds < 86400:
        return _("%(hours)d h %(minutes)d min") % {"hours": seconds // 3600, "minutes": seconds % 3600 // 60}
    return _("%(days)d d %(hours)d h") % {"days": seconds // 86400, "hours": seconds % 86400 // 3600}
