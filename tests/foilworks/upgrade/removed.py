"""What 0.3.0 had and 0.4 removed, by feature (docs/decisions/0131-deleted-for-0-4.md and later). All else holds."""

from dataclasses import dataclass

from foilworks.core.jobs.names_of_0_3 import REMOVED_IN_0_4


@dataclass(frozen=True)
class Removed:
    """`addresses`: their names; they answer 404. `models`: labels; audit rows about them stay.

    `slugs`: of registries, and choices of commands. `options`: (command, flag).
    """

    addresses: frozenset[str] = frozenset()
    models: frozenset[str] = frozenset()
    slugs: frozenset[str] = frozenset()
    options: frozenset[tuple[str, str]] = frozenset()


FEATURES = {
    "hints while editing": Removed(
        addresses=frozenset({"annotation:hint", "generation:hints"}),
        models=frozenset({"generation.hint", "generation.hintmodel", "generation.hintshown"}),
    ),
    "the menu of languages": Removed(addresses=frozenset({"language"})),
    "the report on replacing votes": Removed(
        slugs=frozenset({"replace"}), options=frozenset({("report", "--verdicts"), ("report", "--epsilon")})
    ),
    "single items as evidence of rungs": Removed(slugs=frozenset({"needs_words", "needs_picture", "unsolved"})),
}
ADDRESSES = frozenset().union(*(removed.addresses for removed in FEATURES.values()))
MODELS = frozenset().union(*(removed.models for removed in FEATURES.values()))
SLUGS = frozenset().union(*(removed.slugs for removed in FEATURES.values()))
OPTIONS = frozenset().union(*(removed.options for removed in FEATURES.values()))
TABLES = frozenset(label.replace(".", "_") for label in MODELS)
JOBS = frozenset(REMOVED_IN_0_4)
