"""The pipeline by itself, with methods and filters written for the occasion."""

from types import SimpleNamespace

import pytest

from foilworks.core.text.diff import Edit
from generation import pipeline
from generation.errors import GenerationError
from generation.records import Blank, CaptionInput, FoilDraft, Skip, Verdict, draft_from_edits

CAPTIONS = [CaptionInput(str(n), f"text {n}") for n in range(5)]


def appender(*endings):
    """A method that makes one foil for each ending."""

    def make(captions, *, params, mode, seed):
        for caption in captions:
            for rank, ending in enumerate(endings):
                edit = Edit(len(caption.text), len(caption.text), ending)
                yield draft_from_edits(caption, [edit], method="appender", mode=mode, rank=rank)

    return pipeline.Step("appender", SimpleNamespace(make=make), {})


def filter_that(slug, judge, costly=False):
    calls = []

    def recorded(caption, foil, *, others, params):
        calls.append((foil, tuple(others)))
        return judge(foil)

    return pipeline.Step(slug, SimpleNamespace(judge=recorded, COSTLY=costly), {}), calls


def lacks(letter):
    return lambda foil: Verdict(letter not in foil, 0.0, "")


def run(method, captions=CAPTIONS, **options):
    return list(pipeline.run(method, captions, mode="corrected", seed=0, **options))


def test_all_cheap_filters_judge_each_foil():
    no_a, _ = filter_that("no_a", lacks("a"))
    no_b, _ = filter_that("no_b", lacks("b"))
    (outcome,) = run(appender("ab", "b", "c"), CAPTIONS[:1], filters=[no_a, no_b])
    assert [judged.rejected_by for judged in outcome.foils] == [("no_a", "no_b"), ("no_b",), ()]
    assert all(set(judged.verdicts) == {"no_a", "no_b"} for judged in outcome.foils)


def test_costly_filters_judge_only_the_survivors_of_cheap_filters():
    costly, calls = filter_that("costly", lacks("c"), costly=True)
    cheap, _ = filter_that("cheap", lacks("a"))
    (outcome,) = run(appender("a", "b", "c"), CAPTIONS[:1], filters=[costly, cheap])
    assert [foil for foil, _ in calls] == ["text 0b", "text 0c"]
    assert [judged.rejected_by for judged in outcome.foils] == [("cheap",), (), ("costly",)]


def test_filters_see_earlier_and_known_foils_of_the_caption():
    looker, calls = filter_that("looker", lambda foil: Verdict(True))
    run(appender("a", "b"), CAPTIONS[:2], filters=[looker], known_foils={"1": ["known"]})
    assert calls == [
        ("text 0a", ()),
        ("text 0b", ("text 0a",)),
        ("text 1a", ("known",)),
        ("text 1b", ("known", "text 1a")),
    ]


def test_captions_stream_through_in_batches():
    taken = []

    def endless():
        n = 0
        while True:
            taken.append(n)
            yield CaptionInput(str(n), f"text {n}")
            n += 1

    stream = pipeline.run(appender("a"), endless(), mode="paper", seed=0, batch_size=10)
    assert next(stream).caption.id == "0"
    assert len(taken) == 10


def test_a_caption_without_a_result_is_skipped_with_a_reason():
    def make(captions, **_):
        for caption in captions:
            if caption.id == "1":
                yield Skip("1", "because")
            if caption.id == "2":
                yield Blank("2", 3)

    found = run(pipeline.Step("quiet", SimpleNamespace(make=make), {}))
    assert found[0].skipped == ("the method made no foil",)
    assert found[1].skipped == ("because",)
    assert (found[2].blanks, found[2].skipped) == (3, ())


def test_edits_that_do_not_make_the_foil_stop_the_run():
    def make(captions, **_):
        for caption in captions:
            yield FoilDraft(caption.id, "something else", (Edit(0, 1, "x"),), "t", "x", "liar", "paper")

    with pytest.raises(GenerationError, match="method liar: the edits of caption 0 do not make its foil"):
        run(pipeline.Step("liar", SimpleNamespace(make=make), {}))


def test_an_unknown_result_type_stops_the_run_and_names_the_valid_types():
    expected = "method liar returned a str; it must yield one of: FoilDraft, Skip, Blank, Shortfall"
    with pytest.raises(GenerationError, match=expected):
        run(pipeline.Step("liar", SimpleNamespace(make=lambda captions, **_: ["a foil"]), {}))


def test_an_answer_for_an_unknown_caption_stops_the_run():
    with pytest.raises(GenerationError, match="returned a result for an unknown caption: ghost"):
        run(pipeline.Step("liar", SimpleNamespace(make=lambda captions, **_: [Skip("ghost", "")]), {}))


def test_two_captions_with_the_same_id_stop_the_run():
    with pytest.raises(GenerationError, match="two captions of one run have the same id"):
        run(appender("a"), [CAPTIONS[0], CAPTIONS[0]])


def test_several_edits_are_ordered_and_their_span_covers_them():
    caption = CaptionInput("1", "exactly three men jump")
    draft = draft_from_edits(
        caption, [Edit(18, 22, "jumps"), Edit(8, 13, "one"), Edit(14, 17, "man")], method="m", mode="paper"
    )
    assert draft.foil == "exactly one man jumps"
    assert draft.span == (8, 22)
    assert (draft.source, draft.target) == ("three men jump", "one man jumps")


def test_a_draft_without_edits_names_what_to_yield_instead():
    with pytest.raises(GenerationError, match="season: caption 0 got no edits; yield a Skip instead"):
        draft_from_edits(CAPTIONS[0], [], method="season", mode="paper")


def test_a_batch_filter_judges_all_survivors_of_a_batch_at_once():
    batches = []

    def judge_many(cases, *, params):
        batches.append([(case.caption.id, case.foil, case.other_foils) for case in cases])
        return [Verdict("c" not in case.foil, 0.0) for case in cases]

    costly = pipeline.Step("costly", SimpleNamespace(judge_many=judge_many, COSTLY=True), {})
    cheap, _ = filter_that("cheap", lacks("a"))
    found = run(appender("a", "b", "c"), CAPTIONS[:3], filters=[costly, cheap], batch_size=2)
    assert [len(batch) for batch in batches] == [4, 2]
    assert batches[0][:2] == [("0", "text 0b", ("text 0a",)), ("0", "text 0c", ("text 0a", "text 0b"))]
    assert [judged.rejected_by for judged in found[2].foils] == [("cheap",), (), ("costly",)]


def test_no_model_runs_if_no_foil_is_left_to_judge():
    def never(cases, *, params):
        raise AssertionError("asked for nothing")

    costly = pipeline.Step("costly", SimpleNamespace(judge_many=never, COSTLY=True), {})
    cheap, _ = filter_that("cheap", lambda foil: Verdict(False, 0.0, "no"))
    assert run(appender("a"), filters=[cheap, costly])[0].foils[0].rejected_by == ("cheap",)


def test_a_filter_that_learns_gets_its_state():
    def judge(caption, foil, *, others, params, state):
        return Verdict(foil in state, 0.0, "unknown")

    module = SimpleNamespace(judge=judge, COSTLY=False, prepare=lambda captions, params: None)
    step = pipeline.Step("learner", module, {}, state={"text 0a"})
    found = run(appender("a"), CAPTIONS[:2], filters=[step])
    assert [one.foils[0].rejected_by for one in found] == [(), ("learner",)]
