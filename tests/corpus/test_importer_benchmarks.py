"""Published benchmarks in the form of their files: questions with options, contrast captions, two true captions. The
texts are our own."""

import json

import pytest

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.pair_sets import BLA, EQBEN
from foilworks.core.corpus.import_formats.question_sets import SEED_BENCH, TEMPCOMPASS, VIDEOCON
from foilworks.core.corpus.import_formats.registry import IMPORTERS
from foilworks.core.corpus.records import BadRecord, ItemRecord
from foilworks.core.text.registry import load, parse_params


def read(module, path, content, **params):
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), encoding="utf-8")
    return list(module.read(path, params=params))


def read_by_recipe(slug, path, content, **params):
    entry = IMPORTERS[slug]
    return read(load(entry), path, content, **{**parse_params(entry, {}), **params})


def problems(outcomes) -> list[str]:
    return [str(outcome).partition(":")[2] for outcome in outcomes if isinstance(outcome, BadRecord)]


def texts(item: ItemRecord) -> tuple[str, ...]:
    return item.caption, *item.foils


class TestNextQa:
    HEADER = "video,frame_count,width,height,question,answer,qid,type,a0,a1,a2,a3,a4\n"
    ROW = "41,369,640,480,how does he play,2,6,CH,rolls,taps,strums,hits,pats\n"

    def test_a_row_becomes_a_question_with_each_option(self, tmp_path):
        (item,) = read_by_recipe("nextqa", tmp_path / "val.csv", self.HEADER + self.ROW)
        assert (item.id, item.subtest, item.test, item.video.key) == ("41_6", "CH", "C", "NExT-QA/41")
        assert texts(item)[:2] == ("Q: how does he play A: strums", "Q: how does he play A: rolls")
        assert item.facts == {
            "question": "how does he play",
            "options": ["rolls", "taps", "strums", "hits", "pats"],
            "answer": 2,
            "type": "CH",
        }
        assert item.extra == {"frame_count": "369", "width": "640", "height": "480"}

    def test_errors_name_the_field(self, tmp_path):
        rows = [
            self.ROW.replace(",2,6,", ",5,6,"),
            self.ROW.replace(",2,6,", ",2,,"),
            self.ROW.replace(",taps,", ",,"),
            self.ROW + self.ROW,
        ]
        assert problems(read_by_recipe("nextqa", tmp_path / "v.csv", self.HEADER + "".join(rows))) == [
            "2: answer: '5' is none of them; correct the answer (the candidates are 5, counted from 0)",
            "3: id: is empty; give every record its own id",
            "4: candidates: number 2 is empty; give its text",
            "6: id: '41_6' is already on line 5; give every record its own id",
        ]

    def test_a_file_of_open_questions_is_refused(self, tmp_path):
        with pytest.raises(CorpusError, match="there is no column 'a0'"):
            read_by_recipe("nextqa", tmp_path / "v.csv", "video,question,answer,qid,type\n41,why,fun,6,CW\n")


class TestMvBench:
    ENTRY = {"video": "AB.mp4", "question": "What next?", "candidates": ["sat", "ran"], "answer": "ran"}

    def test_items_are_numbered_and_trimmed(self, tmp_path):
        found = read_by_recipe(
            "mvbench", tmp_path / "action_sequence.json", [self.ENTRY, {**self.ENTRY, "start": 2, "end": 9.5}]
        )
        assert [item.id for item in found] == ["action_sequence:0", "action_sequence:1"]
        assert texts(found[0]) == ("Q: What next? A: ran", "Q: What next? A: sat")
        assert (found[0].video.file, found[0].video.start_time) == ("AB.mp4", None)
        assert (found[1].video.key, found[1].video.time_unit) == ("MVBench/AB@2-9.5", "sec")

    def test_errors_name_the_field(self, tmp_path):
        entries = [
            {"answer": "x"},
            {"candidates": "sat"},
            {"start": 3, "end": 2},
            {"video": ""},
            {"candidates": ["ran"]},
        ]
        found = read_by_recipe("mvbench", tmp_path / "t.json", [{**self.ENTRY, **entry} for entry in entries])
        assert [problem.partition(": ")[2] for problem in problems(found)] == [
            "answer: 'x' is none of them; correct the answer (the candidates are 2, counted from 0)",
            "candidates: has 1; give 2 to 100 candidates",
            "end_time: is 2, not after start_time; correct the trim",
            "video: is missing; name the file, or give url, source_id or video_key",
            "candidates: has 1; give 2 to 100 candidates",
        ]


class TestVideoMme:
    QUESTION = {
        "question_id": "001-1",
        "task_type": "Counting Problem",
        "question": "How many?",
        "options": ["A. One.", "B. Two.", "C. Three.", "D. Four."],
        "answer": "C",
    }
    VIDEO = {"video_id": "001", "duration": "short", "domain": "Knowledge", "sub_category": "Law"}

    def test_the_questions_of_a_video_are_items(self, tmp_path):
        content = [{**self.VIDEO, "questions": [self.QUESTION, {**self.QUESTION, "question_id": "001-2"}]}]
        found = read_by_recipe("video-mme", tmp_path / "x.json", content)
        assert [item.id for item in found] == ["001-1", "001-2"]
        assert texts(found[0])[:2] == ("Q: How many? A: Three.", "Q: How many? A: One.")
        assert (found[0].subtest, found[0].video.key, found[0].video.category) == (
            "Counting Problem",
            "Video-MME/001",
            "Knowledge",
        )
        assert found[0].facts["duration"] == "short"
        assert found[0].facts["options"][0] == "One."

    def test_flat_json_lines_are_the_same_items(self, tmp_path):
        flat = json.dumps({**self.VIDEO, **self.QUESTION, "videoID": "fFj", "url": "https://video.example/fFj"})
        (item,) = read_by_recipe("video-mme", tmp_path / "x.jsonl", flat)
        assert (item.id, item.video.source_id, item.video.url) == ("001-1", "fFj", "")
        assert item.extra == {"url": "https://video.example/fFj", "video_id": "001"}

    def test_errors_name_the_field(self, tmp_path):
        wrong = [{"answer": "E"}, {"answer": None}, {"question_id": ""}, {"options": ["A. One.", "", "C. Two."]}]
        content = [{**self.VIDEO, "questions": [{**self.QUESTION, **each} for each in wrong] + ["x"]}]
        assert problems(read_by_recipe("video-mme", tmp_path / "x.json", content)) == [
            "2: answer: 'E' is none of them; correct the answer (the candidates are 4, counted from 0)",
            "2: answer: is missing; give the number, letter or text of the right candidate",
            "2: id: is empty; give every record its own id",
            "2: candidates: number 2 is empty; give its text",
            "2: questions.4: is not an object; give an object with named fields",
        ]


class TestSeedBench:
    CHOICES = {"choice_a": "lift", "choice_b": "tilt", "choice_c": "fill", "choice_d": "hide"}
    QUESTION = {"question": "What is done?", "answer": "B", **CHOICES}
    FILE = {
        "questions": [
            {**QUESTION, "question_id": "1", "question_type_id": 5, "data_type": "image", "data_id": "14_25"},
            {**QUESTION, "question_id": "v1", "question_type_id": 11, "data_type": "video", "data_id": "P03/P03_24.MP4"}
            | {"segment": [648.0, 658.0]},
            {**QUESTION, "question_id": "v2", "question_type_id": 12, "data_type": "video", "data_id": "P06/a.avi"}
            | {"segment": [18, 166]},
        ],
        "question_type": {"Instances Counting": 5, "Action Prediction": 11, "Procedure Understanding": 12},
    }

    def test_images_and_videos_are_clips(self, tmp_path):
        found = read(SEED_BENCH, tmp_path / "SEED-Bench.json", self.FILE)
        assert [(item.id, item.subtest, item.video.key, item.video.time_unit) for item in found] == [
            ("1", "Instances Counting", "CC3M/14_25", "sec"),
            ("v1", "Action Prediction", "EPIC-KITCHENS-100/P03/P03_24@648-658", "sec"),
            ("v2", "Procedure Understanding", "Breakfast/P06/a@18-166frames", "frames"),
        ]
        assert texts(found[0]) == tuple(f"Q: What is done? A: {name}" for name in ("tilt", "lift", "fill", "hide"))

    @pytest.mark.parametrize(("part", "ids"), [("video", ["v1", "v2"]), ("image", ["1"])])
    def test_a_part_can_be_chosen(self, tmp_path, part, ids):
        assert [item.id for item in read(SEED_BENCH, tmp_path / "x.json", self.FILE, part=part)] == ids

    def test_errors_name_the_field(self, tmp_path):
        good = self.FILE["questions"][1]
        wrong = [{"segment": [3, 2]}, {"segment": 3}, {"question_type_id": 9}, {"data_id": ["a", "b"]}, {"answer": "E"}]
        content = {**self.FILE, "questions": [{**good, **each} for each in wrong]}
        assert [line.partition(": ")[2] for line in problems(read(SEED_BENCH, tmp_path / "x.json", content))] == [
            "segment: is [3, 2]; give an end after the start",
            "segment: is not a start and an end; give [start, end]",
            "question_type_id: '9' is not in question_type; add it there",
            "data_id: is a list: the question is about several pictures; leave the question out",
            "answer: 'E' is none of them; correct the answer (the candidates are 4, counted from 0)",
        ]
        with pytest.raises(CorpusError, match="question_type: is missing; give the whole published file"):
            read(SEED_BENCH, tmp_path / "x.json", {"questions": []})


class TestTempCompass:
    def content(self, question, answer):
        return {"1034": {"direction": [{"question": question, "answer": answer}]}}

    @pytest.mark.parametrize(
        ("task", "question", "answer", "expected"),
        [
            ("multi-choice", "Where?\nA. left\nB. right", "B. right", ("Q: Where? A: right", "Q: Where? A: left")),
            ("yes_no", "Does he go left?", "no", ("Q: Does he go left? A: no", "Q: Does he go left? A: yes")),
            (
                "caption_matching",
                "Which fits?\nOption 1: He goes left.\nOption 2: He goes right.",
                "Option 2: He goes right.",
                ("He goes right.", "He goes left."),
            ),
        ],
    )
    def test_each_task_has_its_texts(self, tmp_path, task, question, answer, expected):
        (item,) = read(TEMPCOMPASS, tmp_path / f"{task}.json", self.content(question, answer))
        assert (item.id, item.subtest, item.test) == (f"{task}-direction:1034:0", f"{task}-direction", "direction")
        assert texts(item) == expected
        assert item.facts["options"][item.facts["answer"]] in expected[0]

    def test_the_task_that_asks_for_a_text_is_refused(self, tmp_path):
        content = self.content("Write.\nInformation A: x\nInformation B: y\nGenerated Caption:", "A. x")
        with pytest.raises(CorpusError, match="asks for a new text, which is no choice"):
            read(TEMPCOMPASS, tmp_path / "captioning.json", content)

    def test_a_zero_byte_in_the_name_of_a_video_is_refused(self, tmp_path):
        content = {"1\x0034": self.content("Is it?", "yes")["1034"]}
        (problem,) = problems(read(TEMPCOMPASS, tmp_path / "yes_no.json", content))
        assert "is not a name; give the name of the video" in problem

    def test_errors_name_the_question(self, tmp_path):
        asked = [("Where?\nA. left\nright", "A. left"), ("Where?\nA. left\nB. right", "left"), ("Is it?", "maybe")]
        content = {"7": {"speed": [{"question": q, "answer": a} for q, a in asked]}, "8": [], "9": {"order": {}}}
        assert [line.partition(": ")[2] for line in problems(read(TEMPCOMPASS, tmp_path / "t.json", content))] == [
            "7.speed[0].question: 'right' has no label; start each option with A., B. …",
            "7.speed[1].answer: 'left' is not among the options; give one of them",
            "7.speed[2].answer: is 'maybe'; give yes or no",
            "record: is not an object with a list of questions per aspect; correct the line",
            "record: is not an object with a list of questions per aspect; correct the line",
        ]


class TestVideoCon:
    def test_the_kind_of_misalignment_is_the_subtest(self, tmp_path):
        rows = (
            "source,videopath,caption,neg_caption,split,misalignment,youtube_key,nle\n"
            "msrvtt,videos/v7.mp4,a man folds,a man tears,test,action,k,he does not tear\n"
            "msrvtt,videos/v7.mp4,a man folds,a man irons,test,action,k,\n"
            "msrvtt,/disk/x/v8.mp4,a man folds,a man tears,,flip,,\n"
        )
        found = read(VIDEOCON, tmp_path / "videocon_llm_feedback.csv", rows)
        assert [item.id for item in found] == ["action:videos/v7", "action:videos/v7#2", "flip:v8"]
        assert (found[0].video.file, found[0].video.split, found[2].video.file) == ("videos/v7.mp4", "test", "v8.mp4")
        assert found[0].facts == {"nle": "he does not tear"}

    def test_hard_human_captions_are_a_subtest(self, tmp_path):
        rows = (
            "video_url,caption,neg_caption,nle,hard\n"
            "https://films.example/a.mp4,one jumps,one sits,no sitting,True\n"
            "https://films.example/b.mp4,one jumps,one sits,no sitting,False\n"
        )
        found = read(VIDEOCON, tmp_path / "videocon_human.csv", rows)
        assert [(item.id, item.subtest) for item in found] == [("human-hard:a", "human-hard"), ("human:b", "human")]
        assert found[0].video.url == "https://films.example/a.mp4"

    def test_statements_are_captions(self, tmp_path):
        rows = "vid_id,question,answer,s0,s1,s2,s3,s4\n41,why,1,one,two,three,four,five\n41,why,9,a,b,c,d,e\n"
        found = read(VIDEOCON, tmp_path / "statements.csv", rows)
        assert texts(found[0]) == ("two", "one", "three", "four", "five")
        assert problems(found) == [
            "3: answer: '9' is none of them; correct the answer (the candidates are 5, counted from 0)"
        ]

    def test_errors_name_the_field(self, tmp_path):
        rows = "videopath,caption,neg_caption,split\n,a,b,\nv,a,,\nv,a,b,dev\n../v,a,b,\nv,a,b,\nv,a,b,\n"
        assert problems(read(VIDEOCON, tmp_path / "x.csv", rows)) == [
            "2: videopath: is missing; name the video",
            "3: neg_caption: is missing; give the text",
            "4: split: is 'dev'; give train, val or test",
            "5: videopath: '../v' leaves the media folder; give a path below it",
            "7: record: repeats the record on line 6; remove it",
        ]


class TestTwoTrueCaptions:
    PAIR = {"id": 3, "filename": "7.jpg", "caption": "a", "caption2": "b", "negative_caption": "c"}
    GROUP = {"True1": "he has a cup", "True2": "she eats", "False1": "he eats", "False2": "she has a cup"}

    def test_a_record_of_sugarcrepe_plus_plus_is_two_items(self, tmp_path):
        found = read_by_recipe("sugarcrepe-pp", tmp_path / "swap_obj.json", [self.PAIR])
        assert [(item.id, texts(item)) for item in found] == [
            ("swap_obj:3:1", ("a", "c")),
            ("swap_obj:3:2", ("b", "c")),
        ]
        assert {item.facts["group"] for item in found} == {"swap_obj:3"}
        assert {item.video.key for item in found} == {"COCO/7.jpg"}

    def test_a_group_of_bla_is_two_items_with_both_false_sentences(self, tmp_path):
        content = [{"image_id": 23, "caption_group": [{**self.GROUP, "predicate": "eat"}]}]
        found = read(BLA, tmp_path / "coordination_captions.json", content)
        assert [(item.id.partition(":")[2], texts(item)) for item in found] == [
            ("23:1", ("he has a cup", "he eats", "she has a cup")),
            ("23:2", ("she eats", "he eats", "she has a cup")),
        ]
        assert found[0].extra == {"predicate": "eat"}

    @pytest.mark.parametrize("group", [lambda pair: [pair], lambda pair: {"video": {"subject": [pair]}}])
    def test_a_record_of_eqben_is_an_item_per_picture(self, tmp_path, group):
        pair = {"image0": "a/0.png", "caption0": ["left", "at left"], "image1": "a/1.png", "caption1": "right"}
        found = read(EQBEN, tmp_path / "ag.json", group(pair))
        assert [(item.video.source_id, texts(item)) for item in found] == [
            ("a/0.png", ("left", "right")),
            ("a/1.png", ("right", "left")),
        ]
        place = found[0].facts["group"]
        assert [item.id for item in found] == [f"{place}:0", f"{place}:1"]
        assert place in {"ag:0", "ag:video/subject/0"}

    def test_errors_name_the_field(self, tmp_path):
        path = tmp_path / "x.json"
        assert problems(read_by_recipe("sugarcrepe-pp", path, [{**self.PAIR, "caption2": ""}])) == [
            "2: caption: is missing; give the text"
        ]
        content = [{"image_id": 1, "caption_group": []}, {"image_id": 1, "caption_group": [{"True1": "x"}]}]
        assert problems(read(BLA, path, content)) == [
            "2: record: has no list caption_group with the sentences; correct the line",
            "6: caption_group.False1: is missing; give the text",
            "6: caption_group.True2: is missing; give two true and two false sentences",
        ]
        assert problems(read(EQBEN, path, [{"image0": "a", "caption0": "x", "image1": ""}, 3])) == [
            "2: caption1: is missing; give the text",
            "2: image1: is missing; give it",
            "7: record: is the number 3; give an object with named fields",
            "7: record: is the number 3; give an object with named fields",
        ]
