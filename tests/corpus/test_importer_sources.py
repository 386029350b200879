"""Captions to make foils for, in the forms of the papers' sources: Something-Something v2, VidSitu, RareAct, LSMDC,
ActivityNet Captions, DiDeMo, MSR-VTT's multiple choice; and lists of videos without captions: Kinetics, UCF101,
Moments in Time. Their shapes are those of the published files; the texts are our own."""

import json
from collections import Counter

import pytest

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats import lsmdc, msrvtt, vidsitu
from foilworks.core.corpus.import_formats.caption_sets import ACTIVITYNET, DIDEMO, RAREACT, SSV2, VATEX
from foilworks.core.corpus.import_formats.parsing.role_sentences import SCENE, sentence_of
from foilworks.core.corpus.import_formats.video_sets import KINETICS, MOMENTS, UCF101
from foilworks.core.corpus.records import BadRecord, ItemRecord, VideoRecord


def read(module, path, content, **params):
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), encoding="utf-8")
    return list(module.read(path, params=params))


def problems(outcomes) -> list[str]:
    """Return FIELD: PROBLEM; FIX of the bad records."""
    return [str(one).partition(": ")[2] for one in outcomes if isinstance(one, BadRecord)]


def splits(outcomes) -> set[str]:
    return {one.video.split for one in outcomes}


class TestSomethingSomething:
    LABEL = {
        "id": "74225",
        "label": "putting a cup onto a plate",
        "template": "Putting [something] onto [something]",
        "placeholders": ["a cup", "a plate"],
    }

    def test_a_label_is_a_caption_with_its_template_and_placeholders(self, tmp_path):
        (item,) = read(SSV2, tmp_path / "something-something-v2-validation.json", [self.LABEL])
        assert item == ItemRecord(
            id="something-something-v2-validation:74225",
            subtest="something-something-v2-validation",
            video=VideoRecord(
                "something-something-v2/74225",
                file="74225",
                source_dataset="something-something-v2",
                source_id="74225",
                split="val",
                class_label="Putting something onto something",
            ),
            caption="putting a cup onto a plate",
            facts={"template": self.LABEL["template"], "placeholders": ["a cup", "a plate"]},
        )

    def test_errors_name_the_field_and_the_problem(self, tmp_path):
        found = read(
            SSV2,
            tmp_path / "x.json",
            [{"id": "1"}, {**self.LABEL, "placeholders": ["a cup"]}, {**self.LABEL, "placeholders": "a cup"}],
        )
        assert problems(found) == [
            "template: is missing; give the text",
            "placeholders: has 1 texts, but 'Putting [something] onto [something]' has 2 slots; give one text per slot",
            "placeholders: is not a list; give what is in the slots of the template",
        ]


class TestVidSitu:
    EVENT = {
        "Verb": "open (make open)",
        "VerbID": "open.01",
        "vid_uid": "abc",
        "vid_seg_int": "v_a-b_c_seg_20_30",
        "EvRel": "Causes",
        "Arg_List": {"Scene of the Event": 4, "Arg1 (thing opened)": "2", "Arg0 (opener)": 1, "ArgM (manner)": 3},
        "Args": {
            "Arg0 (opener)": "man in black",
            "Arg1 (thing opened)": "the window",
            "ArgM (manner)": "",
            "Scene of the Event": "bedroom",
        },
    }

    def test_an_event_is_a_caption_with_its_verb_and_arguments(self, tmp_path):
        second = {**self.EVENT, "VerbID": "look_up.03", "Args": {"Arg1 (thing)": "people in a bar"}, "Arg_List": {}}
        first, other = read(vidsitu, tmp_path / "vsann_train_lb.json", [{"Ev1": self.EVENT, "Ev3": second}])
        assert (first.id, first.caption) == ("vsann_train_lb:v_a-b_c_seg_20_30:Ev1", "Man in black opens the window.")
        assert first.video == VideoRecord(
            "VidSitu/v_a-b_c_seg_20_30",
            file="v_a-b_c_seg_20_30",
            source_dataset="VidSitu",
            source_id="v_a-b_c_seg_20_30",
            split="train",
        )
        assert first.facts == {
            "verb": "open",
            "verb_id": "open.01",
            "event": 1,
            "arguments": {"Arg0 (opener)": "man in black", "Arg1 (thing opened)": "the window", "ArgM (manner)": ""},
            "scene": "bedroom",
            "relation": "Causes",
            "youtube_id": "a-b_c",
            "segment": [20, 30],
        }
        assert (other.facts["event"], other.caption) == (3, "People in a bar look up.")

    def test_an_event_can_be_trimmed_to_its_two_seconds(self, tmp_path):
        (item,) = read(vidsitu, tmp_path / "x.json", [{"Ev1": {}, "Ev2": self.EVENT}], clip="event")[1:]
        assert (item.video.start_time, item.video.end_time) == (2.0, 4.0)

    def test_further_annotations_of_a_segment_are_numbered(self, tmp_path):
        found = read(vidsitu, tmp_path / "vsann_valid_lb.json", [{"Ev1": self.EVENT}, {"Ev1": self.EVENT}])
        assert [item.id.rpartition(":")[2] for item in found] == ["Ev1", "Ev1#2"]
        assert splits(found) == {"val"}

    def test_errors_name_the_field_and_the_problem(self, tmp_path):
        events = [
            {"Ev2": self.EVENT},
            {"Ev1": {**self.EVENT, "vid_seg_int": "a_20_30"}},
            {"Ev1": {**self.EVENT, "Args": {}}},
            {"Ev1": {**self.EVENT, "Args": {"Arg0": 3}}},
        ]
        assert problems(read(vidsitu, tmp_path / "x.json", events)) == [
            "Ev1: is missing; correct the line",
            "Ev1.vid_seg_int: is 'a_20_30'; give v_VIDEO_seg_START_END",
            "Ev1.Args: has no verb with an argument; use an annotated file, not one of the test sets",
            "Ev1.Args.Arg0: is not text; give the words of the argument",
        ]

    @pytest.mark.parametrize(
        ("verb", "arguments", "sentence"),
        [
            ("kick", {"Arg0": "a man", "Arg1": "the guard ."}, "A man kicks the guard."),
            ("walk", {"ArgM (direction)": "away", "Arg0": "two women"}, "Two women walk away."),
            ("talk", {"Arg0": "man and woman", SCENE: "bar"}, "Man and woman talk."),
            ("fall", {"ArgM (manner)": "slowly"}, ""),
        ],
    )
    def test_sentences_follow_the_stated_rule(self, verb, arguments, sentence):
        assert sentence_of(verb, arguments) == sentence


class TestRareAct:
    HEADER = "id,video_id,start,end,class_id,verb,noun,annotation\n"

    def test_only_positive_rows_are_read(self, tmp_path):
        rows = "14,7frRY7aGwMU,3,5,8,cut,laptop,1\n15,7frRY7aGwMU,3,5,8,cut,egg,0\n16,b,1,2,9,peel,corn,3\n"
        (item,) = read(RAREACT, tmp_path / "rareact.csv", self.HEADER + rows)
        assert (item.id, item.caption) == ("rareact:14", "cutting a laptop")
        assert item.facts == {"verb": "cut", "noun": "laptop", "annotation": 1, "class_id": "8"}
        assert item.video == VideoRecord(
            "RareAct/7frRY7aGwMU@3-5",
            file="7frRY7aGwMU",
            source_dataset="RareAct",
            source_id="7frRY7aGwMU",
            start_time=3.0,
            end_time=5.0,
            split="test",
            class_label="cut laptop",
        )
        (clothes,) = read(RAREACT, tmp_path / "r.csv", self.HEADER + "1,a,1,2,9,shake,clothe,1\n")
        assert (clothes.caption, clothes.facts["noun"]) == ("shaking some clothes", "clothe")
        (hard,) = read(RAREACT, tmp_path / "rareact.csv", self.HEADER + rows, annotation="3")
        assert (hard.caption, hard.facts["annotation"]) == ("peeling some corn", 3)

    def test_errors_name_the_field_and_the_problem(self, tmp_path):
        rows = "1,a,3,3,8,cut,laptop,1\n2,a,x,5,8,cut,egg,1\n3,a,1,2,8,cut,egg,7\n4,../a,1,2,8,cut,egg,1\n"
        assert problems(read(RAREACT, tmp_path / "r.csv", self.HEADER + rows)) == [
            "end: is 3, not after start; correct the segment",
            "start: is 'x'; give a number of seconds",
            "annotation: is '7'; give one of 0, 1, 2, 3, 4",
            "video_id: '../a' leaves the media folder; give a path below it",
        ]
        with pytest.raises(CorpusError, match="parameter 'annotation' is 'yes'; give one of: 1 \\(positive\\)"):
            read(RAREACT, tmp_path / "r.csv", self.HEADER, annotation="yes")


class TestLsmdc:
    @staticmethod
    def row(second: int, sentence: str, movie: str = "0001_Film") -> str:
        clip = f"{movie}_00.00.{second:02d}.000-00.00.{second:02d}.900"
        return f"{clip}\t00.00.01.000\t00.00.02.000\t00.00.01.000\t00.00.02.000\t{sentence}\n"

    def test_a_row_is_a_caption_of_its_movie(self, tmp_path):
        text = self.row(1, 'She says "no.') + self.row(1, "She leaves.") + self.row(2, "Night.")
        found = read(lsmdc, tmp_path / "LSMDC16_annos_training.csv", text)
        assert [(item.id.rpartition(".")[2], item.caption) for item in found] == [
            ("900", 'She says "no.'),
            ("900#2", "She leaves."),
            ("900", "Night."),
        ]
        assert (found[0].video.movie, found[0].video.split, found[0].facts) == ("0001_Film", "train", {})

    def test_splits_within_movies_hold_each_movie_at_80_10_10(self, tmp_path):
        text = "".join(self.row(n, f"Ann waves {n}.", movie) for movie in ("0001_A", "0002_B") for n in range(20))
        text += self.row(0, "Ann waves again.", "0001_A")
        found = read(lsmdc, tmp_path / "x.csv", text, splits="within_movies")
        by_movie = Counter({(item.video.movie, item.video.split, item.video.key) for item in found})
        counts = Counter((movie, split) for movie, split, _key in by_movie)
        assert {key: counts[key] for key in counts} == {
            (movie, split): n for movie in ("0001_A", "0002_B") for split, n in (("train", 16), ("val", 2), ("test", 2))
        }
        assert found == read(lsmdc, tmp_path / "x.csv", text, splits="within_movies", seed=0)
        assert found != read(lsmdc, tmp_path / "x.csv", text, splits="within_movies", seed=1)

    def test_characters_get_the_frequency_of_their_names_in_train_captions(self, tmp_path):
        (tmp_path / "characters.tsv").write_text(
            "movie\tname\tgender\taliases\n0001_A\tAnn\tfemale\tAnnie|Mrs. Lee\n0001_A\tBen\tmale\t\n", encoding="utf-8"
        )
        sentences = ("Ann waves.", "Annie hugs Ben.", "Benjamin sleeps.", "Ann looks at Annie.")
        text = "".join(self.row(n, sentence, "0001_A") for n, sentence in enumerate(sentences))
        found = read(lsmdc, tmp_path / "train.csv", text + self.row(9, "Ben runs.", "0002_B"))
        assert found[0].facts["characters"] == [
            {"name": "Ann", "gender": "female", "movie": "0001_A", "frequency": 3, "aliases": ["Annie", "Mrs. Lee"]},
            {"name": "Ben", "gender": "male", "movie": "0001_A", "frequency": 1},
        ]
        assert found[-1].facts == {}
        tested = read(lsmdc, tmp_path / "test.csv", text)
        assert {one["frequency"] for one in tested[0].facts["characters"]} == {0}

    def test_errors_name_the_field_and_the_problem(self, tmp_path):
        text = "a\tb\n" + self.row(1, "").replace("0001_Film_", "") + self.row(1, "x") + self.row(1, "x")
        assert problems(read(lsmdc, tmp_path / "x.csv", text)) == [
            "row: has 2 cells, not 6; correct the line",
            "sentence: is empty; give the text",
            "record: repeats the record on line 3; remove it",
        ]
        (bad,) = problems(read(lsmdc, tmp_path / "x.csv", "film\ta\ta\ta\ta\tShe sits.\n"))
        assert bad == "clip: is 'film'; give MOVIE_HH.MM.SS.mmm-HH.MM.SS.mmm"
        (tmp_path / "characters.tsv").write_text("movie\tname\tgender\nA\tAnn\t\n", encoding="utf-8")
        with pytest.raises(
            CorpusError, match=r"characters\.tsv:2: row: lacks a movie, a name or a gender; correct the row"
        ):
            read(lsmdc, tmp_path / "x.csv", text)


class TestActivityNet:
    def test_a_sentence_is_a_caption_of_its_part(self, tmp_path):
        video = {
            "duration": 55.15,
            "timestamps": [[0, 4.5], [13.79, 54.32]],
            "sentences": ["A man sits.", "  He stands."],
        }
        first, other = read(ACTIVITYNET, tmp_path / "val_1.json", {"v_uqi": video})
        assert (first.id, first.caption, first.video.key) == ("val_1:v_uqi", "A man sits.", "ActivityNet/v_uqi@0-4.5")
        assert (other.id, other.caption) == ("val_1:v_uqi#2", "He stands.")
        assert (other.video.start_time, other.video.end_time, other.video.split) == (13.79, 54.32, "val")
        assert other.facts == {"sentence": 2, "duration": 55.15}

    def test_errors_name_the_field_and_the_problem(self, tmp_path):
        videos = {
            "v_a": {"timestamps": [[0, 1]], "sentences": ["a", "b"]},
            "v_b": {"timestamps": [[5, 5], [1], [-1, 2]], "sentences": ["a", "b", "c"]},
        }
        assert problems(read(ACTIVITYNET, tmp_path / "x.json", videos)) == [
            "timestamps: is not one pair of times per sentence; correct the line",
            "timestamps[0]: is 5 to 5; give an end after the start",
            "timestamps[1]: is not a pair of times; give [start, end] in seconds",
            "timestamps[2][0]: is the number -1; give a number from 0 up, or null",
        ]


class TestDidemo:
    MOMENT = {
        "annotation_id": 49152,
        "video": "350@N01_606_dc1a.mov",
        "description": "the man bends over",
        "times": [[0, 0], [1, 2], [1, 2], [1, 1]],
        "num_segments": 6,
        "dl_link": "https://example.org",
    }

    def test_the_clip_is_the_moment_that_most_annotators_marked(self, tmp_path):
        (item,) = read(DIDEMO, tmp_path / "val_data.json", [self.MOMENT])
        assert (item.id, item.caption) == ("val_data:49152", "the man bends over")
        assert (item.video.start_time, item.video.end_time, item.video.split) == (5.0, 15.0, "val")
        assert item.facts == {"times": self.MOMENT["times"], "num_segments": 6}

    def test_errors_name_the_field_and_the_problem(self, tmp_path):
        moments_ = [{**self.MOMENT, "times": times} for times in ([], [[0, 6]], [[2, 1]], [[0.5, 1]])]
        assert problems(read(DIDEMO, tmp_path / "x.json", moments_)) == [
            "times: is no list of spans; give [[first, last]] in segments of five seconds",
            *["times[0]: is no span of segments; give two of 0 to 5"] * 3,
        ]


class TestMultipleChoice:
    LINE = {"qid": "mc0", "clip_name": "video9770", "title": "msr1", "answer": "1", "options": ["a", "b b", "c c"]}

    def test_the_answer_is_the_caption_and_the_other_options_are_foils(self, tmp_path):
        (item,) = read(msrvtt, tmp_path / "mc.jsonl", json.dumps(self.LINE))
        assert (item.id, item.caption, item.foils) == ("mc:mc0", "b b", ("a", "c c"))
        assert (item.video.key, item.extra) == ("MSR-VTT/video9770", {"answer": 1, "title": "msr1"})

    def test_errors_name_the_field_and_the_problem(self, tmp_path):
        lines = [{**self.LINE, "answer": "3"}, {**self.LINE, "options": ["a"]}, {**self.LINE, "clip_name": ""}]
        assert problems(read(msrvtt, tmp_path / "mc.jsonl", "\n".join(map(json.dumps, lines)))) == [
            "answer: is '3'; give the place of the caption, 0 to 2",
            "options: is no list of captions; give at least 2",
            "clip_name: is empty; give every record its own id",
        ]


class TestSplits:
    VATEX = [{"videoID": "a", "enCap": ["A man sits."]}]

    @pytest.mark.parametrize(
        ("name", "split"),
        [
            ("vatex_training_v1.0.json", "train"),
            ("vatex_validation_v1.0.json", "val"),
            ("vatex_public_test_english_v1.1.json", "test"),
            ("trainval.json", ""),
            ("train_and_test.json", ""),
        ],
    )
    def test_a_split_is_taken_from_the_name_of_the_file(self, tmp_path, name, split):
        assert splits(read(VATEX, tmp_path / name, self.VATEX)) == {split}

    def test_the_parameter_replaces_the_name(self, tmp_path):
        assert splits(read(VATEX, tmp_path / "test.json", self.VATEX, split="train")) == {"train"}
        with pytest.raises(CorpusError, match="parameter 'split' is 'dev'; give train, val or test"):
            read(VATEX, tmp_path / "test.json", self.VATEX, split="dev")


class TestVideoLists:
    def test_kinetics(self, tmp_path):
        text = 'label,youtube_id,time_start,time_end,split,is_cc\n"air drumming",_dbcJuKJQNs,40,50,validate,0\n'
        (item,) = read(KINETICS, tmp_path / "kinetics-600_val.csv", text)
        assert item == ItemRecord(
            id="Kinetics-600/_dbcJuKJQNs_000040_000050",
            subtest="",
            video=VideoRecord(
                "Kinetics-600/_dbcJuKJQNs_000040_000050",
                file="_dbcJuKJQNs_000040_000050",
                source_dataset="Kinetics-600",
                source_id="_dbcJuKJQNs_000040_000050",
                split="val",
                class_label="air drumming",
            ),
            caption="",
        )
        (test,) = read(KINETICS, tmp_path / "test.csv", "youtube_id,time_start,time_end\nabc,1,11\n", dataset="K")
        assert (test.video.key, test.video.class_label, test.video.split) == ("K/abc_000001_000011", "", "test")
        (bad,) = problems(read(KINETICS, tmp_path / "x.csv", "youtube_id,time_start,time_end\nabc,x,11\n"))
        assert bad == "time_start: is 'x'; give a number of seconds"

    def test_ucf101(self, tmp_path):
        text = "ApplyEyeMakeup/v_ApplyEyeMakeup_g08_c01.avi 1\nYoYo/v_YoYo_g01_c01.avi\nnothing\n../a/b.avi 1\n"
        *items, _, _ = found = read(UCF101, tmp_path / "trainlist01.txt", text)
        assert [(item.video.source_id, item.video.class_label, item.video.split) for item in items] == [
            ("v_ApplyEyeMakeup_g08_c01", "apply eye makeup", "train"),
            ("v_YoYo_g01_c01", "yo yo", "train"),
        ]
        assert items[0].video.file == "ApplyEyeMakeup/v_ApplyEyeMakeup_g08_c01.avi"
        assert problems(found) == [
            (
                "video: 'nothing' is not a line of a list; write CLASS/FILE.avi, and the number of the class in lists "
                "of the train split"
            ),
            "video: '../a/b.avi' leaves the media folder; give a path below it",
        ]

    def test_moments_in_time(self, tmp_path):
        text = "filename,label,positive,negative\nplaying+music/a-1_4.mp4,playing+music,3,0\nalone\n"
        *_, item, _ = found = read(MOMENTS, tmp_path / "trainingSet.csv", text)
        assert (item.video.source_id, item.video.class_label, item.video.split) == (
            "playing+music/a-1_4",
            "playing music",
            "train",
        )
        assert problems(found) == ["row: has no second cell, the class; correct the line"]

    def test_a_video_that_occurs_twice_is_bad(self, tmp_path):
        (bad,) = problems(read(UCF101, tmp_path / "x.txt", "A/v_a.avi 1\nA/v_a.avi 1\n"))
        assert bad == "id: 'UCF101/v_a' is already on line 1; give every record its own id"
