"""Parse how the command line and the forms name a model: `SLUG:ARGUMENT`. Imports no torch.

`file:SCORES` and `endpoint:NAME/MODEL` are parsed here too, so that the error about a wrong spec lists all slugs.
"""

from foilworks.core.hub.catalogue.number_formats import split_dtype
from foilworks.core.hub.catalogue.registry import ADAPTERS, ENDPOINT, NO_ADAPTERS, SCORE_FILE
from foilworks.core.hub.errors import HubError
from foilworks.core.text.quoting import quoted


def parse_spec(spec: str) -> tuple[str, str]:
    """Return ("tiny", "/a/b") for "tiny:/a/b". HubError lists what you can write instead."""
    slug, colon, argument = spec.partition(":")
    if not colon or slug not in {*ADAPTERS, *NO_ADAPTERS}:
        choices = ", ".join(f"{name}:…" for name in (*sorted(ADAPTERS), *NO_ADAPTERS))
        raise HubError(f"{quoted(spec)} names no model; write SLUG:ARGUMENT with one of: {choices}")
    if slug == SCORE_FILE and not argument:
        raise HubError("'file:' names no score file; write file:PATH")
    if slug == ENDPOINT and not argument:
        raise HubError("'endpoint:' names no endpoint; write endpoint:NAME/MODEL")
    if slug not in NO_ADAPTERS:
        split_dtype(argument)
    return slug, argument


def trusted_name(spec: str) -> str:
    """Return what a permission applies to: the hub id or folder of `spec`, without its options and revision."""
    slug, _, argument = spec.partition(":")
    name = argument.partition("?")[0]
    return f"{slug}:{name if name.startswith(('/', '.')) else name.partition('@')[0]}"
