from foilworks_example.judge import judge

from foilworks.plugins import ClipFile, JudgedPair


def test_a_clip_that_cannot_be_read_has_no_answer(tmp_path):
    pair = JudgedPair(ClipFile("1", tmp_path / "no.mp4"), "A dark room.", "A bright room.")
    assert list(judge([pair], argument="")) == [None]
