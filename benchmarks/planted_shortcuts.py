"""Make sets of questions about no video with a planted shortcut of known strength."""

import random

from benchmarks.made_up_sets import (
    ADJECTIVES,
    DIRECTIONS,
    NOUNS,
    VERBS,
    Plant,
    action,
    actions,
    choice,
    favourite,
    four_actions,
    label,
    mirrored_pairs,
    pairs_of,
    unchanged,
    without,
)
from foilworks.core.solver.questions import Row

# Shortcuts of letters, forms of verbs and definite articles, of kinds that an examiner wrote (decision 207)


def begins_like_the_question(draw: random.Random, n: int) -> list[Row]:
    rows = []
    for i in range(n):
        last = draw.choice([noun for noun in NOUNS if noun[0] in "bcdt"])
        like = draw.choice([noun for noun in NOUNS if noun[0] == last[0] and noun != last])
        unlike = draw.sample([noun for noun in NOUNS if noun[0] != last[0]], 3)
        options = [like, *unlike] if draw.random() < 0.7 else [unlike[0], like, *unlike[1:]]
        rows.append(choice(draw, f"What does the person hold beside the {last}", options, f"v{i}"))
    return rows


def verbs_of_one_tense(draw: random.Random, n: int) -> list[Row]:
    rows = []
    for i in range(n):
        first, second = draw.choice("ds"), draw.choice("ds")
        forms = {"d": ("walked", "waited"), "s": ("walks", "waits")}
        other = {"d": "s", "s": "d"}
        same = f"the guest {forms[first][0]} and the cook {forms[first][1]} by the {draw.choice(NOUNS)}"
        mixed = f"the guest {forms[second][0]} and the cook {forms[other[second]][1]} by the {draw.choice(NOUNS)}"
        texts = [same, mixed] if draw.random() < 0.9 else [mixed, same]
        rows.append(Row(texts[0], (texts[1],), video=f"v{i}"))
    return rows


def presupposed_elsewhere(draw: random.Random, n: int) -> list[Row]:
    rows = []
    for i in range(n // 2):
        first, second, beside = draw.sample(NOUNS, 3)
        is_yes = draw.random() < 0.5
        known = first if is_yes == (draw.random() < 0.9) else beside
        rows.append(label(f"Is there a {first} on a shelf?", is_yes, f"v{i}"))
        rows.append(label(f"Is a {second} under the {known}?", draw.random() < 0.5, f"v{i}"))
    return rows


# Shortcuts of words and types


def cue_word(draw: random.Random, options: list[str]) -> None:
    options[1] += " quickly" if draw.random() < 0.6 else draw.choice(["", " slowly"])
    options[0] += draw.choice(["", " slowly"])


def negated_foil(draw: random.Random, options: list[str]) -> None:
    if draw.random() < 0.4:
        options[1] = f"do not {options[0]}"


def type_in_first_words(draw: random.Random, n: int) -> list[Row]:
    rows = []
    for i in range(n):
        if i % 2:
            options = favourite(draw, 0.625, "2", [str(k) for k in range(1, 9)])
            text = f"How many {draw.choice(NOUNS)}s are there in the {draw.choice(NOUNS)} area?"
        else:
            options = favourite(draw, 0.625, "red", ["red", "blue", "green", "white", "black", "brown", "pink", "gray"])
            text = f"What color is the {draw.choice(ADJECTIVES[3:])} {draw.choice(NOUNS)}?"
        rows.append(choice(draw, text, options, f"v{i}"))
    return rows


def type_in_a_later_word(draw: random.Random, n: int) -> list[Row]:
    rows = []
    for i in range(n):
        verb, text = draw.choice([("start", "left"), ("end", "right"), ("pause", "up"), ("turn", "down")])
        question = f"In the clip, where does the {draw.choice(ADJECTIVES)} {draw.choice(NOUNS)} {verb}?"
        rows.append(choice(draw, question, favourite(draw, 0.7, text, DIRECTIONS), f"v{i}"))
    return rows


def same_answer_for_an_entity(draw: random.Random, n: int) -> list[Row]:
    habits = {noun: draw.choice(DIRECTIONS) for noun in NOUNS}
    rows = []
    for i in range(n):
        noun = draw.choice(NOUNS)
        options = favourite(draw, 0.8, habits[noun], DIRECTIONS)
        rows.append(choice(draw, f"Where does the {draw.choice(ADJECTIVES)} {noun} go?", options, f"v{i}"))
    return rows


def opposite_subtests(draw: random.Random, n: int) -> list[Row]:
    rows = []
    for i in range(n):
        kind, text = (("begin", "early"), ("end", "late"))[i % 2]
        options = favourite(draw, 0.9, text, ["early", "late"], 2)
        rows.append(choice(draw, f"When does the person {action(draw)}?", options, f"v{i}", kind=kind))
    return rows


def opposite_lengths(draw: random.Random, n: int) -> list[Row]:
    """In one subtest the longest option is right, in the other the shortest."""
    rows = []
    for i in range(n):
        options = actions(draw, 4)
        shortcut = draw.random() < 0.8
        for at in range(4):
            if shortcut and (at == 0) == bool(i % 2):
                options[at] += f" near the {draw.choice(NOUNS)}"
        if not shortcut and draw.random() < 0.5:
            options = [f"{text} near the {draw.choice(NOUNS)}" for text in options]
        rows.append(choice(draw, "What does the person do?", options, f"v{i}", kind=("short", "long")[i % 2]))
    return rows


def template_always_yes(draw: random.Random, n: int) -> list[Row]:
    n_yes = n * 100 // 210
    rows = [label("Did anything unexpected happen in the video?", True, "", id=f"q{i}") for i in range(n_yes)]
    return rows + [label(f"Does the person {action(draw)}?", False, "", id=f"q{i}") for i in range(n_yes, n)]


def yes_bias(draw: random.Random, n: int) -> list[Row]:
    return [label(f"Does the person {action(draw)}?", draw.random() < 0.7, f"v{i}") for i in range(n)]


def yes_by_a_word(draw: random.Random, n: int) -> list[Row]:
    rows = []
    for i in range(n):
        word = draw.choice(["still", "already"])
        text = f"Does the person {word} {action(draw)}?"
        rows.append(label(text, (word == "already") == (draw.random() < 0.8), f"v{i}"))
    return rows


def yes_by_a_usual_pair(draw: random.Random, n: int) -> list[Row]:
    """Yes if the noun and the adjective are a usual pair: 200 pairs, half of them usual."""
    nouns, adjectives = NOUNS[:20], ADJECTIVES[:10]
    usual = {noun: draw.sample(adjectives, 5) for noun in nouns}
    rows = []
    for i in range(n):
        noun, adjective = draw.choice(nouns), draw.choice(adjectives)
        is_yes = (adjective in usual[noun]) == (draw.random() < 0.8)
        rows.append(label(f"Is the {noun} {adjective}?", is_yes, f"v{i}"))
    return rows


def yes_by_length(draw: random.Random, n: int) -> list[Row]:
    rows = []
    for i in range(n):
        is_long = draw.random() < 0.5
        text = f"Does the person {action(draw)}" + (f" and then {action(draw)}" if is_long else "")
        rows.append(label(f"{text}?", is_long == (draw.random() < 0.8), f"v{i}"))
    return rows


# Relations among options


def longest(draw: random.Random, options: list[str]) -> None:
    if draw.random() < 0.6:
        options[0] += f" near the {draw.choice(NOUNS)}"


def edits_of_the_right_option(draw: random.Random, options: list[str]) -> None:
    verb, _, adjective, noun = options[0].split()
    options[1] = f"{draw.choice(without(VERBS, verb))} the {adjective} {noun}"
    options[2] = f"{verb} the {draw.choice(without(ADJECTIVES, adjective))} {noun}"
    options[3] = f"{verb} the {adjective} {draw.choice(without(NOUNS, noun))}"


def odd_one_out(draw: random.Random, options: list[str]) -> None:
    noun, other = draw.sample(NOUNS, 2)
    for at, text in enumerate(options):
        options[at] = " ".join([*text.split()[:-1], other if at == 0 else noun])


def alphabetically_first(draw: random.Random, options: list[str]) -> None:
    if draw.random() < 0.6:
        options.sort()


def contains_another(draw: random.Random, options: list[str]) -> None:
    """The right option is a wrong one and more; another wrong option is as long."""
    if draw.random() < 0.7:
        options[0] = f"{options[1]} near the {draw.choice(NOUNS)}"
        options[2] += f" near the {draw.choice(NOUNS)}"


def all_of_the_above(draw: random.Random, n: int) -> list[Row]:
    rows = []
    for i in range(n):
        options = actions(draw, 4)
        position = draw.randrange(4)
        if i % 2:
            last = "all of the above"
            if draw.random() < 0.8:
                options[0], position = last, 3
            else:
                options[3], position = last, draw.randrange(3)
        rows.append(Row(options[0], tuple(options[1:]), position, "What does the person do?", f"v{i}"))
    return rows


def middle_number(draw: random.Random, n: int) -> list[Row]:
    rows = []
    for i in range(n):
        first, step = draw.randrange(1, 40), draw.randrange(1, 9)
        numbers = [first + step * at for at in range(4)]
        right = draw.choices(numbers, [0.05, 0.45, 0.45, 0.05])[0]
        options = [str(right), *(str(number) for number in numbers if number != right)]
        rows.append(choice(draw, f"How many {draw.choice(NOUNS)}s are there?", options, f"v{i}"))
    return rows


def round_number(draw: random.Random, n: int) -> list[Row]:
    """Wrong numbers are round in 80 %, right ones never."""
    rows = []
    for i in range(n):
        is_round = draw.random() < 0.8
        uneven = [k for k in range(11, 99) if k % 5]
        right, *wrongs = draw.sample(uneven, 4)
        wrongs = draw.sample(range(15, 99, 5), 3) if is_round else wrongs
        options = [f"{right} seconds", *(f"{number} seconds" for number in wrongs)]
        rows.append(choice(draw, f"How long does the {draw.choice(NOUNS)} move?", options, f"v{i}"))
    return rows


# Relations between option and question


def repeats_the_question(draw: random.Random, n: int) -> list[Row]:
    rows = []
    for i in range(n):
        noun = draw.choice(NOUNS)
        options = actions(draw, 4, without(NOUNS, noun))
        if draw.random() < 0.7067:
            options[0] = action(draw, [noun])
        rows.append(choice(draw, f"What happens near the {noun} at the end?", options, f"v{i}"))
    return rows


def first_of_two_in_the_question(draw: random.Random, n: int) -> list[Row]:
    rows = []
    for i in range(n):
        first, second = draw.sample(NOUNS, 2)
        options = [first, second] if draw.random() < 0.8 else [second, first]
        rows.append(choice(draw, f"Does the person take the {first} or the {second}?", options, f"v{i}"))
    return rows


def pronoun(draw: random.Random, n: int) -> list[Row]:
    """In half of the items, only two options have the gender of the question."""
    rows = []
    for i in range(n):
        person, own, wrong = draw.choice([("woman", "her", "his"), ("man", "his", "her")])
        words = [own, own, wrong, wrong] if draw.random() < 0.5 else draw.choice([[own] * 4, ["the"] * 4])
        options = [f"{draw.choice(VERBS)} {word} {draw.choice(ADJECTIVES)} {draw.choice(NOUNS)}" for word in words]
        rows.append(choice(draw, f"What does the {person} do?", options, f"v{i}"))
    return rows


def article_at_the_end(draw: random.Random, n: int) -> list[Row]:
    vowels, others = ["apple", "orange", "egg", "onion", "umbrella", "axe"], NOUNS
    rows = []
    for i in range(n):
        article, pool, wrong = draw.choice([("an", vowels, others), ("a", others, vowels)])
        right, spare = draw.sample(pool, 2)
        options = [right, *draw.sample(wrong, 3)]
        options[1] = spare if draw.random() < 0.5 else options[1]
        rows.append(choice(draw, f"The object near the {draw.choice(NOUNS)} is {article}", options, f"v{i}"))
    return rows


# Form


def full_stop(draw: random.Random, options: list[str]) -> None:
    options[0] += "." if draw.random() < 0.9 else ""


def capital_letter(draw: random.Random, options: list[str]) -> None:
    options[0] = options[0].capitalize() if draw.random() < 0.9 else options[0]


def trailing_blank(draw: random.Random, options: list[str]) -> None:
    options[1] += " " if draw.random() < 0.9 else ""


def cyrillic_noun(draw: random.Random, options: list[str]) -> None:
    head, _, noun = options[1].rpartition(" ")
    letters = str.maketrans("aeocp", "\u0430\u0435\u043e\u0441\u0440")
    options[1] = f"{head} {noun.translate(letters)}" if draw.random() < 0.8 else options[1]


def misspelled_foil(draw: random.Random, options: list[str]) -> None:
    """Wrong options have two letters exchanged in 70 %."""
    for at in range(1, 4):
        verb, rest = options[at].split(" ", 1)
        if draw.random() < 0.7:
            options[at] = f"{verb[0]}{verb[2:3]}{verb[1]}{verb[3:]} {rest}"


# Position, other items, file


def position_by_type(draw: random.Random, n: int) -> list[Row]:
    openings = ["How many are there", "What color is", "Where is", "Who holds"]
    rows = []
    for i in range(n):
        kind = draw.randrange(4)
        position = kind if draw.random() < 0.7333 else draw.randrange(4)
        right, *wrongs = actions(draw, 4)
        rows.append(Row(right, tuple(wrongs), position, f"{openings[kind]} the {draw.choice(NOUNS)}?", f"v{i}"))
    return rows


def next_question_names_the_answer(draw: random.Random, n: int) -> list[Row]:
    rows = []
    for i in range(n // 2):
        options, others = actions(draw, 4), actions(draw, 4)
        rows.append(choice(draw, "What does the person do first?", options, f"v{i}"))
        rows.append(choice(draw, f"What does the person do after they {options[0]}?", others, f"v{i}"))
    return rows


def answer_is_an_option_again(draw: random.Random, n: int) -> list[Row]:
    """The right option of a video is an option of the video's other question, too."""
    rows = []
    for i in range(n // 2):
        first, second = actions(draw, 4), actions(draw, 4)
        if draw.random() < 0.8:
            second[1], first[1] = first[0], second[0]
        rows.append(choice(draw, f"What happens near the {draw.choice(NOUNS)}?", first, f"v{i}"))
        rows.append(choice(draw, f"What happens behind the {draw.choice(NOUNS)}?", second, f"v{i}"))
    return rows


def wrong_options_from_a_pool(draw: random.Random, n: int) -> list[Row]:
    """Wrong options come from a pool of 60 in 70 % of the items, right ones never."""
    pool = actions(draw, 60)
    rows = []
    for i in range(n):
        options = actions(draw, 4)
        if draw.random() < 0.7:
            options[1:] = draw.sample(pool, 3)
        rows.append(choice(draw, "What does the person do?", options, f"v{i}"))
    return rows


def mirrored_pairs_hide_a_word(draw: random.Random, n: int) -> list[Row]:
    rows = mirrored_pairs(draw, n * 6 // 10)
    for i in range(n - len(rows)):
        right, wrong = actions(draw, 2)
        text = f"What does the person do with the {draw.choice(NOUNS)}?"
        rows.append(choice(draw, text, [f"{right} today", f"{wrong} again"], f"w{i}"))
    draw.shuffle(rows)
    return rows


def cycle_of_positions(draw: random.Random, n: int) -> list[Row]:
    rows = []
    for i in range(n):
        right, *wrongs = actions(draw, 4)
        rows.append(Row(right, tuple(wrongs), i % 4, "What does the person do?", f"v{i}"))
    return rows


def sorted_by_answer(draw: random.Random, n: int) -> list[Row]:
    return [label(f"Does the person {action(draw)}?", 2 * i < n, f"v{i}") for i in range(n)]


def answer_by_duration(draw: random.Random, n: int) -> list[Row]:
    rows = []
    for i in range(n):
        is_long = draw.random() < 0.5
        duration = draw.randrange(60, 120) if is_long else draw.randrange(5, 60)
        is_yes = is_long == (draw.random() < 0.8)
        extra = (("duration", str(duration)),)
        rows.append(label(f"Does the person {action(draw)}?", is_yes, f"v{i}", extra=extra))
    return rows


PLANTS: dict[str, Plant] = {
    "none (4 options)": Plant(four_actions(unchanged), 0.25),
    "begins like the question": Plant(begins_like_the_question, 0.7),
    "verbs of one tense": Plant(verbs_of_one_tense, 0.9),
    "presupposed elsewhere": Plant(presupposed_elsewhere, 0.7),
    "cue word": Plant(pairs_of(cue_word), 0.8),
    "not in foils": Plant(pairs_of(negated_foil), 0.7),
    "type in the first words": Plant(type_in_first_words, 0.625),
    "type in a later word": Plant(type_in_a_later_word, 0.7),
    "same answer for an entity": Plant(same_answer_for_an_entity, 0.8),
    "opposite rules in two subtests": Plant(opposite_subtests, 0.9),
    "opposite lengths in two subtests": Plant(opposite_lengths, 0.85),
    "one template always yes": Plant(template_always_yes, 1.0),
    "yes bias": Plant(yes_bias, 0.7),
    "yes by a word": Plant(yes_by_a_word, 0.8),
    "yes by a usual pair": Plant(yes_by_a_usual_pair, 0.8),
    "yes by length": Plant(yes_by_length, 0.8),
    "longest": Plant(four_actions(longest), 0.7),
    "edits of the right option": Plant(four_actions(edits_of_the_right_option), 1.0),
    "odd one out": Plant(four_actions(odd_one_out), 1.0),
    "alphabetically first": Plant(four_actions(alphabetically_first), 0.7),
    "contains another option": Plant(four_actions(contains_another), 0.775),
    "all of the above": Plant(all_of_the_above, 0.525),
    "middle number": Plant(middle_number, 0.45),
    "round numbers wrong": Plant(round_number, 0.85),
    "repeats the question": Plant(repeats_the_question, 0.78),
    "first of two in the question": Plant(first_of_two_in_the_question, 0.8),
    "pronoun": Plant(pronoun, 0.375),
    "article at the end": Plant(article_at_the_end, 0.75),
    "full stop": Plant(four_actions(full_stop), 0.925),
    "capital letter": Plant(four_actions(capital_letter), 0.925),
    "trailing blank": Plant(pairs_of(trailing_blank), 0.95),
    "Cyrillic letters": Plant(pairs_of(cyrillic_noun), 0.9),
    "misspelled foils": Plant(four_actions(misspelled_foil), 0.64),
    "position by type": Plant(position_by_type, 0.8),
    "next question names the answer": Plant(next_question_names_the_answer, 0.625),
    "answer is an option again": Plant(answer_is_an_option_again, 0.45),
    "wrong options from a pool": Plant(wrong_options_from_a_pool, 0.775),
    "mirrored pairs": Plant(mirrored_pairs, 0.5),
    "mirrored pairs hide a word": Plant(mirrored_pairs_hide_a_word, 0.7),
    "cycle of positions": Plant(cycle_of_positions, 1.0, "file"),
    "sorted by answer": Plant(sorted_by_answer, 1.0, "file"),
    "answer by duration": Plant(answer_by_duration, 0.8, "file"),
}
