"""Colour swap: the foils of a caption, and what is left alone because it could stay true."""

import pytest

from generation.errors import GenerationError
from tests.generation.making import drafts, over_seeds, skipped


@pytest.mark.parametrize(
    ("caption", "foils"),
    [
        ("A red ball hits a blue box.", {"A blue ball hits a red box."}),
        ("an orange circle touches a green square", {"a green circle touches an orange square"}),
        ("Two red balls roll over a white line", {"Two white balls roll over a red line"}),
        ("a woman in red pushes a man in blue", {"a woman in blue pushes a man in red"}),
        ("the door is green and the wall is white", {"the door is white and the wall is green"}),
        ("a man in light blue jeans and a white cap", {"a man in white jeans and a light blue cap"}),
        ("a green car hits a grey car", {"a grey car hits a green car"}),
        (
            "a red cup, a blue bowl and a green spoon",
            {
                "a blue cup, a red bowl and a green spoon",
                "a green cup, a blue bowl and a red spoon",
                "a red cup, a green bowl and a blue spoon",
            },
        ),
    ],
)
def test_a_caption_gets_exactly_these_foils(caption: str, foils: set[str]) -> None:
    assert over_seeds("colour_swap", caption) == foils


@pytest.mark.parametrize(
    "caption",
    [
        "a red and white shirt",
        "a red, white and blue flag waves",
        "a red car passes a blue car",
        "a red car passes blue cars",
        "two cars, one red and one blue",
        "a man in red fights a man in blue",
        "a grey dog chases a gray cat",
        "a man in black eats an orange",
        "a woman in green pours orange juice",
        "a red ball hits another one",
        "a small black dog chases a big white cat",
        "a brown dog runs through the green grass",
        "a white man hugs a black woman in a red coat",
        "one child is in pink and the other in black",
        "a boy in a red cap puts a blue cup on the table, then he kicks the blue cup",
        "a blackboard and a red-hot stove",
        "",
    ],
)
def test_captions_whose_foils_could_stay_true_are_skipped(caption: str) -> None:
    assert skipped("colour_swap", caption)


def test_several_foils_of_a_caption_swap_different_pairs() -> None:
    made = drafts("colour_swap", "a red cup, a blue bowl and a green spoon", foils=3)
    assert [draft.rank for draft in made] == [0, 1, 2]
    assert len({draft.foil for draft in made}) == 3
    with pytest.raises(GenerationError, match="parameter 'foils' is 0"):
        drafts("colour_swap", "a red cup and a blue bowl", foils=0)


def test_only_articles_change_besides_the_colours() -> None:
    (draft,) = drafts("colour_swap", "A RED cup near the Blue bowl")
    assert draft.foil == "A BLUE cup near the Red bowl"
    assert draft.facts["things"] == ["cup", "bowl"]
