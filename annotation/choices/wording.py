"""Say why captions get no composed item."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from generation.choices.compose import Why

REASONS: dict[Why, str | Promise] = {
    Why.NOT_LIVE: _("the source item was rejected or removed, or its caption or clip was"),
    Why.COUNT: _("too few or too many random captions"),
    Why.TRUE: _("a random caption is also a caption of this clip"),
    Why.REPEATED: _("two random captions are the same"),
    Why.NO_HARD: _("no hard foil for this caption"),
    Why.UNUSABLE: _("the hard foil is also a caption of this clip, or one of the random captions"),
    Why.KEY_TAKEN: _("the subtest has another item with the same key"),
}


def reasons(left_out: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the reasons in words, with their numbers."""
    return [(str(REASONS[Why(why)]), n) for why, n in left_out.items()]
