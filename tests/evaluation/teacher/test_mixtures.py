"""Shares of negatives from several sources, without a database."""

import pytest

from evaluation.errors import EvaluationError
from foilworks.site.teacher.mixtures import Mixture, mixed, mixture_in, mixture_of, warnings_of

RUN, PEOPLE, PAIRS = "run:12", "people", "pairs"


def texts(source: str, captions: range, count: int) -> dict[int, list[str]]:
    return {caption: [f"{source} {caption} {number}" for number in range(count)] for caption in captions}


def mixture(*given: str, count: int = 10, seed: int = 0) -> Mixture:
    found = mixture_of(given, count, seed)
    assert found is not None
    return found


def test_sources_with_enough_texts_get_their_shares_at_every_caption():
    sources = {
        RUN: texts(RUN, range(20), 10),
        "subtest:a=b": texts("sub", range(20), 10),
        PEOPLE: texts("p", range(20), 10),
    }
    wanted = mixture("run:12=0.5", "subtest:a=b=0.3", "people=0.2")
    found = mixed(wanted, sources)
    for made in found.negatives.values():
        assert [sum(text.startswith(name) for text in made) for name in (RUN, "sub", "p ")] == [5, 3, 2]
    assert [row["achieved"] for row in found.shares(wanted)] == pytest.approx([0.5, 0.3, 0.2])
    assert warnings_of(wanted, found) == []


def test_shares_that_are_fractions_of_a_text_hold_over_all_captions():
    wanted = mixture("run:12", "people", "pairs", count=5)
    found = mixed(wanted, {key: texts(key, range(30), 9) for key in (RUN, PEOPLE, PAIRS)})
    assert found.taken == {RUN: 50, PEOPLE: 50, PAIRS: 50}
    assert {len(made) for made in found.negatives.values()} == {5}


def test_the_choice_depends_on_the_seed_alone_and_keeps_the_rank_of_a_run():
    sources = {RUN: texts(RUN, range(8), 9), PEOPLE: texts(PEOPLE, range(8), 9)}
    given = ("run:12=0.5", "people=0.5")
    first, again, other = (mixed(mixture(*given, count=4, seed=seed), sources).negatives for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert [text for text in first[3] if text.startswith(RUN)] == [f"{RUN} 3 0", f"{RUN} 3 1"]


def test_a_source_without_texts_for_one_caption_makes_up_for_it_at_others():
    sources = {RUN: texts(RUN, range(10), 10), PEOPLE: texts(PEOPLE, range(5), 10)}
    wanted = mixture("run:12=0.75", "people=0.25", count=4)
    found = mixed(wanted, sources)
    assert found.taken == {RUN: 30, PEOPLE: 10}
    assert {len(made) for made in found.negatives.values()} == {4}


def test_a_source_with_too_few_texts_is_named_with_what_it_gives():
    sources = {RUN: texts(RUN, range(10), 3), PEOPLE: texts(PEOPLE, range(2), 1)}
    wanted = mixture("run:12=0.5", "people=0.5", count=4)
    found = mixed(wanted, sources)
    assert [row["missing"] for row in found.shares(wanted)] == [0, 14]
    first, second = warnings_of(wanted, found)
    assert first == (
        "people: has too few texts for its share of 0.5; it gives 2 negatives (a share of 0.06), 14 less "
        "than it should; add foils to it, or lower its share"
    )
    assert second.startswith("8 captions have fewer than 4 negatives; add foils")


def test_a_text_that_two_sources_have_is_used_once():
    found = mixed(mixture("run:12", "people", count=4), {RUN: {1: ["a", "b"]}, PEOPLE: {1: ["a", "c"]}})
    assert sorted(found.negatives[1]) == ["a", "b", "c"]
    assert sum(found.taken.values()) == 3


def test_a_mixture_is_read_back_from_the_parameters_of_its_training():
    wanted = mixture("run:12=0.5", "people=0.5", count=7, seed=3)
    assert wanted.params == {"negatives": ["run:12=0.5", "people=0.5"], "per_caption": 7, "negatives_seed": 3}
    assert mixture_in(wanted.params) == wanted
    assert mixture_in({"actions": 10}) is None
    assert mixture_of(["run:1", "run:2", "pairs"]).sources[0].share == pytest.approx(1 / 3)
    again = mixture_in(mixture("run:1", "run:2", "pairs").params)
    assert [source.share for source in again.sources] == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (["runs:12"], "'runs:12' is not a source; give one of: run:ID, subtest:NAME, imported, people, pairs"),
        (["run:twelve"], "'run:twelve' is not a source"),
        (["people:ann"], "'people:ann' is not a source"),
        (["run:12=0.5", "people"], "some sources have a share and some have none; give all of them one, or none"),
        (["run:12=0.5", "people=0.4"], "the shares add up to 0.9; give shares that add up to 1"),
        (["run:12=1.5"], "the share of 'run:12' is 1.5; give a number above 0 and up to 1"),
        (["run:12=0.5", "run:12=0.5"], "'run:12' is there more than once; give each source once"),
    ],
)
def test_an_impossible_mixture_is_refused_with_the_place(given, problem):
    with pytest.raises(EvaluationError) as refused:
        mixture_of(given)
    assert problem in str(refused.value)
    with pytest.raises(EvaluationError, match="per_caption: is 0; give a number from 1 to 1000"):
        mixture_of(["people"], 0)
