"""{{ run.created_at|moment:"j M Y, H:i" }}: a moment in UTC, which static/foilworks/app.js shows in the
reader's own time zone. Both name the zone.
"""

from datetime import UTC, datetime

from django import template
from django.template.defaultfilters import date
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def moment(value: datetime | None, form: str) -> SafeString | str:
    """Return a `<time>` element; "" if there is no moment. `form`: a format of Django's `date`, with hours."""
    if not value:
        return ""
    utc = value.astimezone(UTC)
    iso = utc.strftime("%Y-%m-%dT%H:%M:%SZ")
    return format_html('<time datetime="{}" data-moment="{}">{} UTC</time>', iso, form, date(utc, form))
