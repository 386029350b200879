"""The rows of this package. Every process of Foilworks imports this module, so it imports no library."""

from foilworks.plugins import Entry, Param

MIRROR = Entry(
    label="Mirror",
    path="foilworks_mirror.mirror",
    summary="“from left to right” becomes “from right to left”.",
    params=(Param("max", 10, "max sides to change per caption", "int"),),
    published=False,
)
TSV = Entry(label="TSV", path="foilworks_mirror.tsv", summary="One line per foil: item, caption and foil.")


def pairs() -> tuple[str, Entry]:
    """Return the slug and the row: a function can decide either when it is called."""
    return "pairs", Entry(
        label="Pairs",
        path="foilworks_mirror.pairs",
        summary="One item per line: video, caption and foil, separated by tabs.",
    )
