from foilworks_example.judge import judge, judge_answers

from foilworks.plugins import ClipFile, JudgedAnswer, JudgedPair


def test_a_clip_that_cannot_be_read_has_no_answer(tmp_path):
    pair = JudgedPair(ClipFile("1", tmp_path / "no.mp4"), "A dark room.", "A bright room.")
    assert list(judge([pair], argument="")) == [None]


def test_an_answer_with_all_words_is_right():
    answers = [JudgedAnswer("What is it?", "A red cup", f"It is a {colour} cup.") for colour in ("red", "blue")]
    assert list(judge_answers(answers, argument="")) == [True, False]
