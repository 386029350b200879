"""Formats of published data sets that are one caption and one foil, or captions alone: VITATECS, SugarCrepe, FOIL-COCO,
MSR-VTT, VATEX. Their shapes are those of the published files; the texts are our own."""

import json

import pytest

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats import msrvtt
from foilworks.core.corpus.import_formats.caption_sets import VATEX
from foilworks.core.corpus.import_formats.choice_sets import FOIL_COCO
from foilworks.core.corpus.import_formats.registry import IMPORTERS
from foilworks.core.corpus.records import BadRecord, ItemRecord, VideoRecord
from foilworks.core.text.registry import load, parse_params


def read(module, path, content, **params):
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), encoding="utf-8")
    return list(module.read(path, params=params))


def read_by_recipe(slug, path, content, **params):
    entry = IMPORTERS[slug]
    return read(load(entry), path, content, **{**parse_params(entry, {}), **params})


def lines(*records) -> str:
    return "\n".join(map(json.dumps, records))


def problems(outcomes) -> list[str]:
    return [str(outcome).partition(":")[2] for outcome in outcomes if isinstance(outcome, BadRecord)]


class TestVitatecs:
    LINE = {
        "src_dataset": "MSRVTT",
        "video_name": "video1.mp4",
        "caption": "a man closes a door",
        "counterfactual": "a man opens a door",
        "aspect": "Direction",
    }

    def test_a_line_is_an_item_of_its_aspect(self, tmp_path):
        (item,) = read_by_recipe("vitatecs", tmp_path / "any.jsonl", lines({**self.LINE, "note": 1}))
        assert item == ItemRecord(
            id="Direction:video1",
            subtest="Direction",
            video=VideoRecord("MSRVTT/video1", file="video1.mp4", source_dataset="MSRVTT", source_id="video1"),
            caption="a man closes a door",
            foils=("a man opens a door",),
            extra={"note": 1, "video_name": "video1.mp4"},
        )

    def test_further_records_of_a_video_are_numbered_and_equal_ones_refused(self, tmp_path):
        other = {**self.LINE, "counterfactual": "a man paints a door"}
        found = read_by_recipe(
            "vitatecs", tmp_path / "x.jsonl", lines(self.LINE, other, self.LINE, {**self.LINE, "aspect": "Type"})
        )
        assert [item.id for item in found if isinstance(item, ItemRecord)] == [
            "Direction:video1",
            "Direction:video1#2",
            "Type:video1",
        ]
        assert problems(found) == ["3: record: repeats the record on line 1; remove it"]

    def test_the_subtest_can_be_given(self, tmp_path):
        (item,) = read_by_recipe("vitatecs", tmp_path / "x.jsonl", lines(self.LINE), subtest="mine")
        assert (item.id, item.subtest) == ("mine:video1", "mine")

    def test_errors_name_the_field_and_the_problem(self, tmp_path):
        path = tmp_path / "x.jsonl"
        found = read_by_recipe(
            "vitatecs",
            path,
            lines(
                {**self.LINE, "video_name": None}, {**self.LINE, "counterfactual": ""}, {**self.LINE, "caption": ["a"]}
            )
            + "\n{",
        )
        assert [str(bad) for bad in found] == [
            f"{path}:1: id: is empty; give every record its own id",
            f"{path}:2: foils[0]: is empty; give the text",
            f"{path}:3: caption: is a list; choose one of its values, such as caption.0",
            f"{path}:4: JSON: Expecting property name enclosed in double quotes at column 2; correct the line",
        ]


class TestSugarCrepe:
    ENTRY = {
        "filename": "0001.jpg",
        "caption": "a red cup on a blue table",
        "negative_caption": "a blue cup on a red table",
    }

    def test_an_entry_is_an_item_of_a_picture(self, tmp_path):
        found = read_by_recipe(
            "sugarcrepe", tmp_path / "swap_att.json", {"0": self.ENTRY, "1": {**self.ENTRY, "caption": "x"}}
        )
        first, second = (one for one in found if isinstance(one, ItemRecord))
        assert first == ItemRecord(
            id="swap_att:0",
            subtest="swap_att",
            video=VideoRecord("COCO/0001.jpg", source_dataset="COCO", source_id="0001.jpg"),
            caption="a red cup on a blue table",
            foils=("a blue cup on a red table",),
        )
        assert first.video == second.video

    def test_errors_name_the_field_and_the_problem(self, tmp_path):
        path = tmp_path / "x.json"
        found = read_by_recipe("sugarcrepe", path, {"0": {**self.ENTRY, "filename": ""}, "1": [], "2": self.ENTRY})
        assert [str(bad) for bad in found[:2]] == [
            f"{path}:2: video: is missing; name the file, or give url, source_id or video_key",
            f"{path}:7: record: is a list; give an object with named fields",
        ]
        assert isinstance(found[-1], ItemRecord)


class TestFoilCoco:
    CAPTION = {
        "id": 7,
        "image_id": 42,
        "caption": "a dog on a sofa",
        "foil": False,
        "foil_word": "ORIG",
        "target_word": "ORIG",
    }
    FOIL = {
        "id": 7,
        "image_id": 42,
        "caption": "a cat on a sofa",
        "foil": True,
        "foil_word": "cat",
        "target_word": "dog",
    }

    def test_a_caption_and_its_foils_are_one_item(self, tmp_path):
        second = {**self.FOIL, "caption": "a dog on a table", "foil_word": "table", "target_word": "sofa", "foil_id": 3}
        found = read(
            FOIL_COCO,
            tmp_path / "foil.json",
            {
                "info": {"year": 2017},
                "images": [{"id": 42, "file_name": "42.jpg"}],
                "annotations": [self.CAPTION, self.FOIL, second],
            },
        )
        assert found == [
            ItemRecord(
                id="foil:7",
                subtest="foil",
                video=VideoRecord("COCO/42.jpg", source_dataset="COCO", source_id="42.jpg"),
                caption="a dog on a sofa",
                foils=("a cat on a sofa", "a dog on a table"),
                extra={
                    "foils": [
                        {"foil_word": "cat", "target_word": "dog"},
                        {"foil_word": "table", "target_word": "sofa", "foil_id": 3},
                    ]
                },
            )
        ]

    def test_a_foil_alone_gets_its_caption_back(self, tmp_path):
        (item,) = read(FOIL_COCO, tmp_path / "x.json", {"annotations": [self.FOIL], "images": []})
        assert (item.caption, item.video.key) == ("a dog on a sofa", "COCO/42")

    def test_errors_name_the_field_and_the_problem(self, tmp_path):
        twice = {**self.FOIL, "id": 8, "caption": "a cat and a cat"}
        found = read(
            FOIL_COCO,
            tmp_path / "x.json",
            {"images": [], "annotations": [self.CAPTION, twice, "text", {**self.FOIL, "id": 9}]},
        )
        assert [problem.partition(": ")[2] for problem in problems(found)] == [
            "annotations: is not an object with an id; correct the line",
            "foil: is true of none of its annotations; give its foil, or import captions instead",
            ("foil_word: is 2 times in the foil, so its caption cannot be restored; add the annotation of the caption"),
        ]
        assert [item.id for item in found if isinstance(item, ItemRecord)] == ["x:9"]

    def test_a_picture_whose_name_nothing_can_hold_is_named(self, tmp_path):
        images = [{"id": 42, "file_name": "x" * 300}, {"id": 43, "file_name": "x\x00"}]
        annotations = [self.FOIL, {**self.FOIL, "id": 8, "image_id": 43}]
        found = read(FOIL_COCO, tmp_path / "x.json", {"images": images, "annotations": annotations})
        assert [problem.partition(": ")[2] for problem in problems(found)] == [
            "image.file_name: has 300 characters, more than 200; shorten it",
            "image.file_name: contains a NUL character; remove it",
        ]

    def test_a_file_without_its_lists_is_named(self, tmp_path):
        path = tmp_path / "x.json"
        with pytest.raises(CorpusError) as caught:
            read(FOIL_COCO, path, {"images": [], "sentences": []})
        assert str(caught.value).startswith(f"{path}:1: JSON: has no list annotations, column 1; ")
        with pytest.raises(CorpusError, match="annotations is not a list"):
            read(FOIL_COCO, path, {"images": [], "annotations": {}})


class TestMsrvtt:
    VIDEO = {
        "video_id": "video0",
        "category": 9,
        "url": "https://y.example/a",
        "start time": 1.5,
        "end time": 9,
        "split": "validate",
    }

    def test_a_sentence_is_a_caption_to_make_foils_for(self, tmp_path):
        sentence = {"caption": "a car drives off", "video_id": "video0", "sen_id": 3}
        found = read(msrvtt, tmp_path / "all.json", {"info": {}, "videos": [self.VIDEO], "sentences": [sentence]})
        video = VideoRecord(
            "MSR-VTT/video0",
            file="video0",
            source_dataset="MSR-VTT",
            source_id="video0",
            split="val",
            category="vehicles/autos",
        )
        facts = {"url": "https://y.example/a", "start time": 1.5, "end time": 9}
        assert found == [ItemRecord(id="all:3", subtest="all", video=video, caption="a car drives off", facts=facts)]

    def test_the_lists_may_come_in_any_order(self, tmp_path):
        sentence = {"caption": "a car drives off", "video_id": "video0", "sen_id": 3}
        (item,) = read(msrvtt, tmp_path / "x.json", {"sentences": [sentence], "videos": [self.VIDEO]})
        assert item.video.split == "val"

    def test_a_sentence_of_an_unknown_video_is_bad(self, tmp_path):
        sentence = {"caption": "a car drives off", "video_id": "video1", "sen_id": 3}
        (bad,) = problems(read(msrvtt, tmp_path / "x.json", {"videos": [self.VIDEO], "sentences": [sentence]}))
        assert bad.endswith("video_id: 'video1' is not among the videos; add the video, or remove the line")

    def test_a_sentence_of_a_video_with_what_nothing_can_hold_is_bad(self, tmp_path):
        sentence = {"caption": "a car drives off", "video_id": "video0", "sen_id": 3}
        videos = [{**self.VIDEO, "start time": float("nan")}]
        (bad,) = problems(read(msrvtt, tmp_path / "x.json", {"videos": videos, "sentences": [sentence]}))
        assert bad.endswith("video.start time: is nan; give a finite number, or null")

    def test_the_table_of_a_split_is_read_as_well(self, tmp_path):
        text = "key,vid_key,video_id,sentence\nret0,msr9770,video9770,a person plugs in a cable\n"
        (item,) = read(msrvtt, tmp_path / "test.csv", text)
        assert (item.id, item.caption, item.facts) == ("test:video9770", "a person plugs in a cable", {})
        assert item.video == VideoRecord(
            "MSR-VTT/video9770", file="video9770", source_dataset="MSR-VTT", source_id="video9770", split="test"
        )


class TestVatex:
    VIDEO = {"videoID": "Ab_000010_000020", "enCap": ["A man sits.", "Somebody sits down."], "chCap": ["…"]}

    def test_every_english_caption_is_a_record(self, tmp_path):
        found = read(VATEX, tmp_path / "v.json", [self.VIDEO])
        assert [(item.id, item.caption) for item in found] == [
            ("v:Ab_000010_000020", "A man sits."),
            ("v:Ab_000010_000020#2", "Somebody sits down."),
        ]
        assert {item.video.key for item in found} == {"VATEX/Ab_000010_000020"}

    def test_the_first_caption_of_each_video_can_be_taken_alone(self, tmp_path):
        assert [item.caption for item in read(VATEX, tmp_path / "v.json", [self.VIDEO], captions=1)] == ["A man sits."]

    def test_errors_name_the_field_and_the_problem(self, tmp_path):
        found = read(
            VATEX, tmp_path / "v.json", [{"videoID": "a"}, {**self.VIDEO, "videoID": "../a"}, {"enCap": ["x"]}]
        )
        assert [problem.partition(": ")[2] for problem in problems(found)] == [
            "enCap: has no list of captions; correct the line",
            "videoID: '../a' leaves the media folder; give a path below it",
            "videoID: '../a' leaves the media folder; give a path below it",
            "videoID: is empty; give every record its own id",
        ]
