"""Find pages of rooms above by what they show.

The room of such a page declares it in PAGES of its `declarations.py`: what it shows -> the name of its URL, which takes
the project's slug, and for "item" the item's number. Keys: project, work, crowd place, item.
"""

from django.urls import reverse

from foilworks.core.rooms import declared


def address_of(shows: str, *arguments: object) -> str:
    """Return the address of the page that shows this."""
    return reverse(declared("PAGES")[shows], args=arguments)
