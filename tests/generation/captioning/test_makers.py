"""Caption makers: what each source becomes, and that a foil method reads what they write."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foilworks.core.hub.adapters.fake import FakeChat
from foilworks.core.text.registry import load, parse_params
from generation.captioning.registry import CAPTIONERS
from generation.captioning.trial import make_captions
from generation.grammar.existence import read_existence
from generation.grammar.states import SUBTESTS, read_sentence
from generation.instruction_models.cached_answers import Asking
from generation.instruction_models.prompts import built_in
from generation.records import MODES, CaptionInput, MadeCaption, Skip
from tests.generation.making import drafts, outcomes
from tests.generation.memory_answers import MemoryAnswers


def made(slug, text="", facts=None, mode="corrected", **params):
    entry = CAPTIONERS[slug]
    source = CaptionInput("s", text, "v", facts=facts or {})
    module = load(entry)
    served = {"asking": Asking(FakeChat(), MemoryAnswers()), "prompt": built_in("polish@1")}
    given = served if getattr(module, "USES_LLM", False) else {}
    return list(module.make([source], params=parse_params(entry, params), mode=mode, seed=0, **given))


def texts(slug, *args, **options):
    return [one.text for one in made(slug, *args, **options) if isinstance(one, MadeCaption)]


def why(slug, *args, **options):
    (one,) = made(slug, *args, **options)
    assert isinstance(one, Skip)
    return one.why


COUNTS = [
    ("someone performs exactly <number> push-ups", 3, "someone performs exactly three push-ups"),
    ("someone performs exactly <number> push-ups", 1, "someone performs exactly one push-up"),
    ("a man skips rope exactly <number> times.", 10, "a man skips rope exactly ten times."),
    ("a man skips rope exactly <number> times.", 1, "a man skips rope exactly one time."),
    ("exactly <number> people are dancing", 1, "exactly one person is dancing"),
    ("exactly <number> people are dancing", 4, "exactly four people are dancing"),
    ("Exactly <number> men jump.", 1, "Exactly one man jumps."),
    ("<number> dogs bark", 2, "Two dogs bark"),
    ("<number> dogs bark", 1, "One dog barks"),
    ("There are exactly <number> balls.", 1, "There is exactly one ball."),
    ("There are exactly <number> balls.", 7, "There are exactly seven balls."),
    ("he does exactly <number> overhead presses.", 1, "he does exactly one overhead press."),
    ("he throws exactly <number> knives", 1, "he throws exactly one knife"),
    ("he throws exactly <number> knives", 2, "he throws exactly two knives"),
    ("she takes exactly <number> steps forward.", 1, "she takes exactly one step forward."),
    ("she takes exactly <number> steps forward.", 5, "she takes exactly five steps forward."),
    ("someone peels a melon in exactly <number> moves.", 1, "someone peels a melon in exactly one move."),
    ("a man does exactly <number> jumping jacks.", 1, "a man does exactly one jumping jack."),
    ("a man does exactly <number> jumping jacks.", 9, "a man does exactly nine jumping jacks."),
    ("exactly <number> children running on a beach", 1, "exactly one child running on a beach"),
    ("exactly <number> children on a beach", 6, "exactly six children on a beach"),
    ("a diver catches exactly <number> fish", 1, "a diver catches exactly one fish"),
    ("a dog barks exactly <NUMBER> times", 8, "a dog barks exactly eight times"),
    ("🙂 exactly <number> times — שלום", 1, "🙂 exactly one time — שלום"),
    ("a baby waves exactly <number> times!", 2, "a baby waves exactly two times!"),
    ("someone cuts exactly <number> boxes", 1, "someone cuts exactly one box"),
    ("exactly <number> hands clap", 1, "exactly one hand claps"),
    ("exactly <number> candles burn", 1, "exactly one candle burns"),
    ("a human peels exactly <number> mandarins", 1, "a human peels exactly one mandarin"),
    ("while exactly <number> dogs bark, a cat sleeps", 1, "while exactly one dog barks, a cat sleeps"),
]


@pytest.mark.parametrize(("template", "count", "caption"), COUNTS)
def test_a_template_becomes_a_counted_caption(template, count, caption):
    (one,) = made("count_template", template, {"count": count})
    assert (one.text, one.facts["count"]) == (caption, count)
    # The fact of ViLMA's files and a template beside a caption do as well; digits on demand.
    assert texts("count_template", "anything", {"template": template, "class": str(count)}) == [caption]
    assert str(count) in texts("count_template", template, {"count": count}, style="digits")[0]
    if "exactly" in template.lower():
        assert drafts("number", caption, foils=1)[0].facts["count"] == count


def test_a_source_without_a_count_or_slot_is_skipped():
    assert why("count_template", "a man claps <number> times") == (
        'it has no annotated count; add it as the fact "count"'
    )
    assert "<number> 0 times" in why("count_template", "a man claps", {"count": 2})
    assert "<number> 2 times" in why("count_template", "<number> or <number>", {"count": 2})
    assert "11 is not within 1..10" in why("count_template", "<number> men", {"count": 11})
    assert "0 is not within" in why("count_template", "<number> men", {"count": 0})
    assert "is ungrammatical" in why("count_template", "exactly <number> men wave their hats", {"count": 1})
    assert texts("count_template", "exactly <number> push-ups", {"count": 1}, mode="paper") == ["exactly one push-ups"]


# Source, its action caption, the states before and after ("" where the change has no reverse).
CHANGES = [
    ("A man folds a red shirt.", "Someone folds the red shirt.", "unfolded", "folded"),
    ("folding a paper", "Someone folds the paper.", "unfolded", "folded"),
    ("Unfolding cloth", "Someone unfolds the cloth.", "folded", "unfolded"),
    ("a woman opens the door and walks in", "Someone opens the door.", "closed", "open"),
    ("Close the lid", "Someone closes the lid.", "open", "closed"),
    ("fill the glass with water", "Someone fills the glass.", "empty", "full"),
    ("she takes off her hat", "Someone takes the hat off.", "on", "off"),
    ("she takes her hat off", "Someone takes the hat off.", "on", "off"),
    ("a man turns on the light", "Someone turns the light on.", "off", "on"),
    ("rolling up a yoga mat", "Someone rolls the yoga mat up.", "unrolled", "rolled up"),
    ("attach the wheel to the car", "Someone attaches the wheel.", "detached", "attached"),
    ("the box was sealed by a worker", "Someone seals the box.", "unsealed", "sealed"),
    ("Someone is inflating a balloon", "Someone inflates the balloon.", "deflated", "inflated"),
    ("a kite rises over the sea", "The kite rises.", "in a lower position", "in a higher position"),
    ("The paper falls.", "The paper falls.", "in a higher position", "in a lower position"),
    ("a plane takes off", "The plane takes off.", "on the ground", "in the air"),
    ("the ice melts", "The ice melts.", "solid", "melted"),
    ("A boy ties two shoes", "Someone ties the two shoes.", "untied", "tied"),
    ("a chef locks the kitchen door", "Someone locks the kitchen door.", "unlocked", "locked"),
    ("a man wraps a present in paper", "Someone wraps the present.", "unwrapped", "wrapped"),
    ("a girl unzips her jacket", "Someone unzips the jacket.", "zipped", "unzipped"),
    ("a worker loads a truck", "Someone loads the truck.", "unloaded", "loaded"),
    ("soak the beans", "Someone soaks the beans.", "dry", "soaked"),
    ("he wipes a screen", "Someone wipes the screen.", "dirty", "spotless"),
    ("a man puts a book into a bag", "Someone puts the book in.", "outside", "inside"),
    ("connect the cable", "Someone connects the cable.", "disconnected", "connected"),
    ("a nurse covers a piece of cloth", "Someone covers the piece of cloth.", "uncovered", "covered"),
    ("chopping an onion", "Someone chops the onion.", "whole", "in pieces"),
    ("A woman tears pink paper", "Someone tears the pink paper.", "whole", "torn"),
    ("peel a banana", "Someone peels the banana.", "unpeeled", "peeled"),
    ("cut the potatoes", "Someone cuts the potatoes.", "whole", "in pieces"),
]
ONE_WAY = {"in pieces", "torn", "peeled"}
# The caption keeps the particle, the result and the whole name of the thing.
WHOLE = [
    ("plug the lamp into the wall", "Someone plugs the lamp in."),
    ("screw on the lid", "Someone screws the lid on."),
    ("a man screws the lid onto the jar", "Someone screws the lid on."),
    ("screw in the light bulb", "Someone screws the light bulb in."),
    ("screw the lamp into the socket", "Someone screws the lamp in."),
    ("screw off the bolts used to close the gate", "Someone unscrews the bolts."),
    ("screw and repair the shelf", "Someone repairs the shelf."),
    ("form the clay into a bowl", "Someone forms the clay into a bowl."),
    ("form each part into a ball roll out", "Someone forms each part into a ball."),
    ("form a ball", "Someone forms the ball."),
    ("paint on the wall", "Someone paints on the wall."),
    ("soak the cotton swabs", "Someone soaks the cotton swabs."),
    ("covering video game pads with a cloth", "Someone covers the video game pads."),
    ("uncovering remote", "Someone uncovers the remote."),
    ("covering tv remote with a napkin", "Someone covers the tv remote."),
    ("dropping paint cleaning roller", "Someone drops the paint cleaning roller."),
    ("rinse the rice drain and fry it", "Someone rinses the rice."),
    ("take out the dough seal for 3 hours", "Someone takes the dough out."),
    ("to assemble the cake place a berry on it", "Someone assembles the cake."),
    ("drizzle little oil", "Someone drizzles the oil."),
    ("cut a certain part", "Someone cuts a certain part."),
    ("combine flour, salt and yeast", "Someone combines the flour, salt and yeast."),
    ("open the box used to store the shoes", "Someone opens the box."),
    ("when the eggs are boiled remove the shell", "Someone removes the shell."),
]
INCOMPLETE = [
    "form the dough into small rounds",
    "screw the shelf to the wall",
    "mix cumin black pepper salt sugar garlic powder and oil",
    "combine carrots onions celery and garlic",
    "slice the olives peppers and mushrooms",
    "combine rice vinegar rice wine and oil",
    "when all onions are cooked serve",
    "serve boiled eggs",
]


@pytest.mark.parametrize(("source", "action", "pre", "post"), CHANGES)
def test_a_sentence_becomes_the_four_templates(source, action, pre, post):
    found = texts("cos_caption", source)
    assert found[0] == action
    # What changes stands between the article and the verb or the stop, whichever the template has.
    what = found[1].removeprefix("Initially, ").partition(" is ")[0].partition(" are ")[0]
    be = "are" if what.split()[-1] in ("shoes", "beans", "potatoes") else "is"
    assert found[1:3] == [f"Initially, {what} {be} {pre}.", f"At the end, {what} {be} {post}."]
    if post in ONE_WAY:
        assert len(found) == 3
        assert "there is no reverse caption" in made("cos_caption", source)[-1].why
    else:
        assert found[3] == f"{found[1]} Then, {action[0].lower() + action[1:]} {found[2]}"


@pytest.mark.parametrize("source", [source for source, _, _, post in CHANGES if post not in ONE_WAY])
def test_the_method_reads_the_makers_captions(source):
    """Each of the four captions gets its foil, and knows its template."""
    captions = [one for one in made("cos_caption", source) if isinstance(one, MadeCaption)]
    assert [read_sentence(one.text).subtest for one in captions] == list(SUBTESTS)
    given = [CaptionInput(f"c{n}", one.text, facts=one.facts) for n, one in enumerate(captions)]
    foils = [outcome.foils for outcome in outcomes("state_change", given)]
    assert [len(found) for found in foils] == [1, 1, 1, 1]
    assert foils[3][0].draft.foil.count(".") == 3


@pytest.mark.parametrize(
    "source", ["a man walks", "he opens it", "a fold of paper", "a manfold", "", "Initially, the paper is folded."]
)
def test_a_sentence_without_a_change_of_a_thing_is_skipped(source):
    assert why("cos_caption", source).startswith("it has no verb of change from the lexicon")


@pytest.mark.parametrize(("source", "action"), WHOLE)
def test_a_caption_keeps_what_its_verb_and_its_noun_need(source, action):
    assert texts("cos_caption", source, template="action") == [action]


@pytest.mark.parametrize("source", INCOMPLETE)
def test_a_sentence_whose_caption_would_be_cut_is_skipped(source):
    assert why("cos_caption", source, template="action").startswith("it has no verb of change from the lexicon")


def test_mode_paper_writes_is_and_a_reverse_for_everything():
    assert texts("cos_caption", "chop the onions", mode="paper") == [
        "Someone chops the onions.",
        "Initially, the onions is whole.",
        "At the end, the onions is in pieces.",
        "Initially, the onions is whole. Then, someone chops the onions. At the end, the onions is in pieces.",
    ]
    assert texts("cos_caption", "folding a paper", template="pre_state") == ["Initially, the paper is unfolded."]


VERB_NOUN = [
    ("cut", "keyboard", "cutting a keyboard"),
    ("wash", "fridges", "washing some fridges"),
    ("drill into", "laptop", "drilling into a laptop"),
    ("call on", "phone", "calling on a phone"),
    ("eat", "egg", "eating an egg"),
    ("pour", "milk", "pouring some milk"),
    ("hammer", "phone", "hammering a phone"),
    ("microwave", "shoes", "microwaving some shoes"),
    ("throw", "flowers", "throwing some flowers"),
    ("spray", "door", "spraying a door"),
    ("weigh", "umbrella", "weighing an umbrella"),
    ("roll", "banana", "rolling a banana"),
    ("measure", "pumpkin", "measuring a pumpkin"),
    ("blend", "phone", "blending a phone"),
    ("iron", "bread", "ironing some bread"),
    ("put", "shirt", "putting a shirt"),
    ("tie", "hour glass", "tying an hour glass"),
    ("peel", "corns", "peeling some corns"),
    ("drink", "water", "drinking some water"),
    ("shake", "clothes", "shaking some clothes"),
    ("open", "box", "opening a box"),
    ("lie on", "bus", "lying on a bus"),
    ("unplug", "oven", "unplugging an oven"),
    ("fry", "glasses", "frying some glasses"),
    ("dig", "sand", "digging some sand"),
    ("dye", "hat", "dyeing a hat"),
    ("ski over", "car", "skiing over a car"),
    ("swim in", "hat box", "swimming in a hat box"),
    ("burn", "candle", "burning a candle"),
    ("wave", "hand", "waving a hand"),
]


@pytest.mark.parametrize(("verb", "noun", "caption"), VERB_NOUN)
def test_a_pair_becomes_a_caption(verb, noun, caption):
    assert texts("verb_noun_caption", facts={"verb": verb, "noun": noun}) == [caption]
    label = f"{verb}-{noun.replace(' ', '_')}"
    assert texts("verb_noun_caption", facts={"class_label": label}) == [caption]
    assert texts("verb_noun_caption", text=f"{verb.upper()} - {noun}") == [caption]


def test_a_source_that_is_not_a_pair_is_skipped():
    assert why("verb_noun_caption", "a man cuts a keyboard").startswith("it has no verb and noun")
    assert "not the base form" in why("verb_noun_caption", facts={"verb": "cutting", "noun": "tree"})
    assert "not the base form" in why("verb_noun_caption", facts={"verb": "the", "noun": "tree"})


@pytest.mark.parametrize(
    ("source", "caption"),
    [
        ("washing some fridges", "there are some fridges"),
        ("weighing a banana", "there is at least one banana"),
        ("pouring some milk", "there is some milk"),
        ("eating from a fridge", "there is at least one fridge"),
        ("hammering a cell phone", "there is at least one cell phone"),
        ("a man opens his old box", "there is at least one box"),
        ("A man cuts two apples", "there are some apples"),
        ("a fridge", "there is at least one fridge"),
    ],
)
def test_a_caption_becomes_an_existence_caption(source, caption):
    assert texts("existence_caption", source) == [caption]
    assert read_existence(caption)


def test_the_fact_noun_comes_first():
    assert texts("existence_caption", "cutting a keyboard", {"noun": "Mugs"}) == ["there are some mugs"]
    assert why("existence_caption", "he sings") == "it names no thing that could be there"


@given(text=st.text(max_size=60), mode=st.sampled_from(MODES), slug=st.sampled_from(sorted(CAPTIONERS)))
@settings(max_examples=150, deadline=None)
def test_any_source_gives_reproducible_captions_or_a_reason(text, mode, slug):
    facts = {"count": 2}
    first = made(slug, text, facts, mode=mode)
    assert first
    assert first == made(slug, text, facts, mode=mode)
    assert all(one.text.strip() if isinstance(one, MadeCaption) else one.why for one in first)


def test_a_trial_gives_lines_with_facts():
    result = make_captions(
        "verb_noun_caption",
        [CaptionInput("a", "cut-keyboard", "v7"), CaptionInput("b", "nothing")],
        mode="corrected",
        seed=0,
        raw_params={},
        serve=lambda module, params: {},
    )
    facts = {"verb": "cut", "noun": "keyboard", "maker": "verb_noun_caption", "mode": "corrected"}
    assert result["captions"] == [
        {"source": "cut-keyboard", "caption": "cutting a keyboard", "video": "v7", "facts": facts}
    ]
    assert result["skipped"][0]["source"] == "nothing"
