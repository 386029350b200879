"""The filters. One filter = one file beside this one and one row here; nothing is imported to show the menu."""

from text.registry import Entry, Param

FILTERS: dict[str, Entry] = {
    "minimal_edit": Entry(
        label="Minimal edit",
        path="generation.filters.minimal_edit",
        summary="Drops foils that change more than a few words, or an entity.",
        params=(
            Param("max_words", 4, "words that may change, case and punctuation apart", "int"),
            Param(
                "entities",
                "keep",
                "keep: names in the caption and its listed entities stay; free: they may change",
                "choice",
                ("keep", "free"),
            ),
        ),
        deviations=(
            (
                "Entities are names (capitals inside a sentence) and what a caption's facts list; the paper's "
                "annotators judged by eye."
            ),
        ),
    ),
    "duplicate": Entry(
        label="Duplicate",
        path="generation.filters.duplicate",
        summary="Drops a foil that the caption already has, whatever its case, spaces and punctuation.",
    ),
    "template_linter": Entry(
        label="Template linter",
        path="generation.filters.template_linter",
        summary="Drops foils of templates that went wrong: agreement, articles, doubled words, punctuation, states.",
        params=(
            Param(
                "punctuation",
                "same",
                "same: the caption's marks in their order; free: they may differ",
                "choice",
                ("same", "free"),
            ),
        ),
        deviations=("No paper has it: their templates were read by people.",),
    ),
    "identical": Entry(
        label="Identical to the caption",
        path="generation.filters.identical",
        summary="Drops a foil that says the same as the caption, whatever its case, spaces and punctuation.",
    ),
}

# What a run applies where nothing else is asked for.
DEFAULT_FILTERS = ("identical", "duplicate", "minimal_edit")
