"""Word lists of span infilling: what no filled span may hold or begin with."""

from generation.grammar.surface import word_set
from text.language.inflection import lemmas
from text.language.verb_forms import verb_readings
from text.tokens import words

# "General actions (e.g. use, have)" and "some form of touching (e.g. hold, reach)" (ViLMA, Sec. C.5); "personal
# pronouns (e.g. I, they, etc.) and conjunctions (e.g. and, but)" (ViLMA, Sec. C.2). The paper gives examples only; the
# lists are ours.
GENERIC = word_set(
    "use have get do make be take go come keep let need want try start begin like love see look watch help put give",
    "find know think become seem stop continue work play include contain require",
)
TOUCHING = word_set(
    "hold reach touch grab grasp grip carry pick handle hit feel clutch seize catch press rub pat stroke tap lift",
)
PRONOUNS = word_set(
    "i you he she it we they me him her us them my your his its our their mine yours hers ours theirs myself yourself",
    "himself herself itself ourselves themselves who whom whose this that these those someone somebody something",
)
CONJUNCTIONS = word_set("and or but nor so yet for because although while if when than as though unless until since")

VERB_LISTS = {"generic": GENERIC, "touching": TOUCHING}
WORD_LISTS = {"pronouns": PRONOUNS, "conjunctions": CONJUNCTIONS}
STOP_LISTS = (*VERB_LISTS, *WORD_LISTS)


def stopped_by(span: str, lists: frozenset[str]) -> str:
    """The word of the span that a chosen list stops; "" where none does. Verbs are stopped in every form."""
    found = words(span)
    plain = {name for name in lists if name in WORD_LISTS}
    for word in found:
        if any(word in WORD_LISTS[name] for name in plain):
            return word
    for word in found[:1]:
        known = {word, *lemmas(word).get("VERB", ()), *(lemma for lemma, _ in verb_readings(word))}
        if any(known & VERB_LISTS[name] for name in lists if name in VERB_LISTS):
            return word
    return ""
