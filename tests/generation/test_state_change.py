"""Change of state: the four subtests by their templates, other captions, what cannot be undone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foilworks.core.text.language.change_of_state import TUPLES
from foilworks.core.text.language.verb_forms import verb_form
from generation.grammar.states import read_sentence
from generation.methods.state_change import MANY
from generation.records import CaptionInput
from tests.generation.making import drafts, outcomes, over_seeds, skipped

# Caption, foil: sentences of (ViLMA, Table 1 and Figs. 16-19) where the lexicon has their verbs.
EXACT = [
    # Action, transitive and intransitive.
    ("Someone folds the paper.", "Someone unfolds the paper."),
    ("Someone opens the book.", "Someone closes the book."),
    ("Someone fills the glass.", "Someone empties the glass."),
    ("Someone uncovers the remote.", "Someone covers the remote."),
    ("Someone soaks the beans.", "Someone dries off the beans."),
    ("The paper falls.", "The paper rises."),
    ("The athlete rises.", "The athlete falls."),
    ("The door opens.", "The door closes."),
    # Verbs with particles: before or behind the object, gained, lost and changed.
    ("Someone takes the label out.", "Someone puts the label in."),
    ("Someone takes out the label.", "Someone puts in the label."),
    ("Someone rolls the burrito up.", "Someone unrolls the burrito."),
    ("Someone unrolls the dough.", "Someone rolls up the dough."),
    ("a man unrolls it", "a man rolls it up"),
    ("a woman turns the light on", "a woman turns the light off"),
    ("a man takes off his hat", "a man puts on his hat"),
    # The same verb without an object is another change.
    ("a plane takes off", "a plane lands"),
    ("a man sits down.", "a man stands up."),
    # The preposition follows the verb.
    ("Someone attaches the pen drive to the cd player.", "Someone detaches the pen drive from the cd player."),
    ("plugging a cable into a laptop", "unplugging a cable from a laptop"),
    ("a man puts a book into a bag", "a man takes a book out of a bag"),
    ("a man takes a book out of a bag", "a man puts a book into a bag"),
    # Forms: gerund, past, passive; capitals, no full stop.
    ("Opening the lid of a box", "Closing the lid of a box"),
    ("a boy folded two shirts", "a boy unfolded two shirts"),
    ("the door is opened by a man", "the door is closed by a man"),
    ("the box was sealed.", "the box was unsealed."),
    ("SOMEONE OPENS THE DOOR!", "SOMEONE CLOSES THE DOOR!"),
    ("🙂 a man opens a door — שלום", "🙂 a man closes a door — שלום"),
    # Of several changes that a verb makes, the one between these states.
    (
        "Initially, the rice is drained. Then, someone soaks the rice. At the end, the rice is soaking.",
        "Initially, the rice is soaking. Then, someone drains the rice. At the end, the rice is drained.",
    ),
    ("Someone rinses the shells.", "Someone dries the shells."),
    ("The athlete jumps.", "The athlete descends."),
    ("Someone wraps the spring roll up.", "Someone unwraps the spring roll."),
    # Pre-state.
    ("Initially, the paper is unfolded.", "Initially, the paper is folded."),
    ("Initially, the cup is full.", "Initially, the cup is empty."),
    ("initially the windows are closed", "initially the windows are open"),
    # Post-state, of what cannot be undone too.
    ("At the end, the paper is folded.", "At the end, the paper is unfolded."),
    ("At the end, the bulb is visible.", "At the end, the bulb is hidden."),
    ("At the end, the paper is torn.", "At the end, the paper is whole."),
    # Reverse.
    (
        "Initially, the pizza is unwrapped. Then, someone wraps the pizza. At the end, the pizza is wrapped.",
        "Initially, the pizza is wrapped. Then, someone unwraps the pizza. At the end, the pizza is unwrapped.",
    ),
    (
        "Initially, the glass is empty. Then someone fills the glass. At the end, the glass is full.",
        "Initially, the glass is full. Then someone empties the glass. At the end, the glass is empty.",
    ),
    (
        "Initially, the kite is low. Then, the kite rises. At the end, the kite is high.",
        "Initially, the kite is high. Then, the kite falls. At the end, the kite is low.",
    ),
    (
        "Initially, the hat is off. Then, someone puts the hat on. At the end, the hat is on.",
        "Initially, the hat is on. Then, someone takes the hat off. At the end, the hat is off.",
    ),
]


@pytest.mark.parametrize(("caption", "foil"), EXACT)
def test_a_caption_becomes_exactly_this_foil(caption, foil):
    assert [draft.foil for draft in drafts("state_change", caption)] == [foil]


NO_VERB = "it has no verb of change from the lexicon with a thing that changes"


@pytest.mark.parametrize(
    ("caption", "why"),
    [
        ("Someone chops an onion.", "'chop' cannot be undone: no verb reverses it"),
        ("Someone tears the pink paper.", "'tear' cannot be undone: no verb reverses it"),
        (
            "Initially, the onion is whole. Then, someone chops the onion. At the end, the onion is in pieces.",
            "'chop' cannot be undone: no verb reverses it",
        ),
        ("a man turns around", NO_VERB),
        ("a man talks", NO_VERB),
        ("a chopper lands in a fold", "'land'"),
        ("the fold of a paper", NO_VERB),
        ("Initially, the paper is pink.", NO_VERB),
        (
            "Initially, the glass is full. Then, someone folds the glass. At the end, the glass is empty.",
            "its states are not the states of 'fold' (unfolded, folded)",
        ),
        ("", NO_VERB),
    ],
)
def test_a_caption_is_skipped_with_its_reason(caption, why):
    if why == "'land'":
        assert [draft.foil for draft in drafts("state_change", caption)] == ["a chopper takes off from a fold"]
    else:
        assert skipped("state_change", caption) == why


def test_mode_paper_writes_an_opposite_verb_and_leaves_the_preposition():
    def paper(text):
        return [draft.foil for draft in drafts("state_change", text, mode="paper")]

    assert paper("Someone chops the onion.") == ["Someone connects the onion."]
    assert paper("Someone tears the pink paper.") == ["Someone assembles the pink paper."]
    assert paper("Someone attaches the pen drive to the cd player.") == [
        "Someone detaches the pen drive to the cd player."
    ]
    assert paper(
        "Initially, the onion is whole. Then, someone chops the onion. At the end, the onion is in pieces."
    ) == ["Initially, the onion is in pieces. Then, someone connects the onion. At the end, the onion is whole."]
    assert "none of the paper's templates" in skipped("state_change", "a man opens a door", mode="paper")


def test_only_the_chosen_subtest_gets_foils():
    text = "Initially, the paper is unfolded."
    assert drafts("state_change", text, subtest="pre_state")[0].facts["subtest"] == "pre_state"
    assert skipped("state_change", text, subtest="action") == "it has the template of pre_state, not of action"
    assert [read_sentence(text).subtest for text in (EXACT[0][0], EXACT[31][0], EXACT[34][0], EXACT[37][0])] == [
        "action",
        "pre_state",
        "post_state",
        "reverse",
    ]


@pytest.mark.parametrize(
    ("caption", "foils"),
    [
        ("A man puts down the box.", ["A man lifts the box.", "A man picks up the box."]),
        ("A woman puts on her jacket.", ["A woman takes off her jacket.", "A woman removes her jacket."]),
        ("A man takes off his coat.", ["A man puts on his coat."]),
        ("A man picks up a towel.", ["A man puts down a towel."]),
    ],
)
def test_each_verb_that_surely_undoes_a_change_makes_a_foil(caption, foils):
    assert [draft.foil for draft in drafts("state_change", caption, foils=5)] == foils
    assert [draft.foil for draft in drafts("state_change", caption)] == foils[:1]


def test_an_ambiguous_state_follows_the_stored_verb():
    text = "Initially, the onion is whole."
    assert {"Initially, the onion is in slices.", "Initially, the onion is in pieces."} <= over_seeds(
        "state_change", text
    )
    noted = {"cos": {"verb": "grind"}}
    assert over_seeds("state_change", text, facts=noted) == {"Initially, the onion is ground."}


# One thing cannot be combined or gathered.
OF_ONE_THING = [entry for entry in TUPLES if entry.transitive and entry.reverse not in MANY]


@given(entry=st.sampled_from(OF_ONE_THING), seed=st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_every_transitive_change_works_in_all_four_subtests(entry, seed):
    verb, _, particle = verb_form(entry.verb, "VBZ").partition(" ")
    action = f"someone {verb} the grey thing {particle}".strip() + "."
    before, after = f"Initially, the grey thing is {entry.pre}.", f"At the end, the grey thing is {entry.post}."
    texts = [action, before, after, f"{before} Then, {action} {after}"]
    facts = {"cos": {"verb": entry.verb, "pre": entry.pre, "post": entry.post}}
    captions = [CaptionInput(f"c{n}", text, facts=facts) for n, text in enumerate(texts)]
    made = [[judged.draft.foil for judged in one.foils] for one in outcomes("state_change", captions, seed=seed)]
    assert made[1] == [f"Initially, the grey thing is {entry.post}."]
    assert made[2] == [f"At the end, the grey thing is {entry.pre}."]
    assert bool(made[0]) == bool(made[3]) == entry.reversible
    if entry.reversible:
        assert made[3] == [f"{made[1][0]} Then, {made[0][0]} {made[2][0]}"]
