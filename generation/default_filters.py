"""Say which filters a run of a method has by default."""

from generation.filters.registry import DRAW

# What a run applies by default.
DEFAULT_FILTERS = ("identical", "duplicate", "minimal_edit")
# These methods change names, whole phrases or everything, so their foils are not minimal edits of a few words.
CHANGES_MORE = frozenset(
    {"actor_swap", "attribute_swap", "event_order", "identity_swap", "negation", "random_caption", "state_change"}
)

# Methods whose foils a balanced draw can take: it needs opposites among them.
DRAWN_METHODS = frozenset(
    {
        "number",
        "preposition",
        "state_change",
        "gender_swap",
        "identity_swap",
        "mask_fill",
        "span_infill",
        "chat",
        "event_order",
        "direction",
        "attribute_swap",
        "colour_swap",
        "negation",
    }
)


def default_filters(method: str, mode: str = "corrected") -> tuple[str, ...]:
    """Return the default filters of a run of the method."""
    filters = tuple(slug for slug in DEFAULT_FILTERS if slug != "minimal_edit" or method not in CHANGES_MORE)
    return (*filters, DRAW) if method in DRAWN_METHODS and mode != "paper" else filters
