"""List the taggers. Imports none: spaCy takes seconds, and no web process needs it."""

from foilworks.core.text.registry import Entry

TAGGERS: dict[str, Entry] = {
    "offline": Entry(
        label="Offline rules",
        path="foilworks.core.text.language.offline:OfflineTagger",
        summary="rules for captions over lemminflect's lexicon; needs no model",
    ),
    "spacy": Entry(
        label="spaCy",
        path="foilworks.core.text.language.spacy_tagger:load_tagger",
        summary="a spaCy pipeline: the largest installed English model, or the model after the colon",
    ),
}
