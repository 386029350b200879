"""One table, many dialects: the same scores however a program writes them; what could be two things is refused."""

import csv
import io
import json

import numpy as np
import pytest
from django.core.management import call_command
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.metrics import control
from evaluation.metrics.ties import hit, standing
from evaluation.score_files.arrays import read_matrix
from evaluation.score_files.score_readers import read_given
from evaluation.score_files.scores import read_choices, read_pairs
from evaluation.score_files.tables import parse_columns
from foilworks.core.text.errors import ActionableError

# Id, [caption, foil, foil]: right are a, 1 and é; the release has them in another order.
SCORES = {
    "a": [0.75, 0.5, 0.25],
    "1": [0.5, 0.25, 0.125],
    "c, d": [0.25, 0.5, 1.0],
    '"q"': [-1.0, -0.5, -2.0],
    "é": [3e-05, 1e-05, 2e-05],
}
RECORDS = [{"id": name, "subtest": "s", "foils": ["x", "y"]} for name in sorted(SCORES, reverse=True)]
QUOTING = {"minimal": csv.QUOTE_MINIMAL, "all": csv.QUOTE_ALL, "nonnumeric": csv.QUOTE_NONNUMERIC}


@st.composite
def dialects(draw):
    """(text, encoding) of SCORES as some program would write them."""
    names = draw(st.permutations(list(SCORES)))
    id_name = draw(st.sampled_from(["id", "ID", "item", "item_id", "video_id", "sample", ""]))
    score_names = draw(
        st.sampled_from([["caption", "foil_1", "foil_2"], ["pos", "neg1", "neg2"], ["s0", "s1", "s2"], ["0", "1", "2"]])
    )
    header = [id_name, *score_names]
    rows = [[name, *SCORES[name]] for name in names]
    is_array = score_names == ["0", "1", "2"]
    if not is_array:
        extra = draw(st.sampled_from([{}, {"seconds": 7}, {"notes": "a, b;\tc"}, {"subtest": "s", "width": 640}]))
        header += list(extra)
        rows = [[*row, *extra.values()] for row in rows]
        # A data frame's index stands first.
        places = list(range(len(header)))
        order = [0, *draw(st.permutations(places[1:]))] if not id_name else draw(st.permutations(places))
        header, rows = [header[k] for k in order], [[row[k] for k in order] for row in rows]
    if id_name and not is_array and draw(st.booleans()):
        header, rows = ["", *header], [[k, *row] for k, row in enumerate(rows)]
    out = io.StringIO()
    dialect = {
        "delimiter": draw(st.sampled_from([",", ";", "\t"])),
        "quoting": QUOTING[draw(st.sampled_from(sorted(QUOTING)))],
        "lineterminator": draw(st.sampled_from(["\n", "\r\n"])),
    }
    csv.writer(out, **dialect).writerows([header, *rows])
    text = out.getvalue()
    return text.removesuffix(dialect["lineterminator"]) if draw(st.booleans()) else text, draw(
        st.sampled_from(["utf-8", "utf-8-sig"])
    )


@settings(max_examples=60, deadline=None)
@given(dialects())
def test_every_dialect_gives_every_item_its_own_scores(tmp_path_factory, written):
    text, encoding = written
    path = tmp_path_factory.mktemp("dialect", numbered=True) / "scores.csv"
    path.write_bytes(text.encode(encoding))
    choices, pairs = read_choices(path), read_pairs([path])
    given_ones = read_given(path, "auto", RECORDS)
    for found in (dict(zip(choices.ids, choices.scores.tolist(), strict=True)), of(pairs), of(given_ones)):
        assert found == SCORES


def of(pairs):
    return dict(zip(pairs.ids, pairs.main.tolist(), strict=True))


@settings(max_examples=25, deadline=None)
@given(st.permutations(list(SCORES)), st.sampled_from(["id", "item", "video_id"]), st.booleans(), st.booleans())
def test_json_records_give_the_same_result(tmp_path_factory, names, id_name, by_key, as_list):
    path = tmp_path_factory.mktemp("json", numbered=True) / ("m.json" if by_key else "m.jsonl")
    scores = {name: {"scores": SCORES[name]} for name in names}
    if not as_list:
        scores = {name: {"caption": SCORES[name][0], "foils": SCORES[name][1:]} for name in names}
    lines = [json.dumps(scores)] if by_key else [json.dumps({id_name: name, **one}) for name, one in scores.items()]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert of(read_pairs([path])) == of(read_given(path, "auto", RECORDS)) == SCORES


def write(tmp_path, text, name="f.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def metrics(capsys, *args):
    call_command("metrics", *map(str, args), "--json")
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("quote", ["", '"'])
def test_predictions_are_detected_by_their_header_with_any_quoting(tmp_path, capsys, quote):
    head = ",".join(f"{quote}{name}{quote}" for name in ("id", "prediction", "right"))
    path = write(tmp_path, f"{head}\na,2,2\nb,1,0\nc,0,0\nd,3,3\n")
    assert metrics(capsys, "mc", "--file", path)["accuracy"] == 0.75
    with pytest.raises(SystemExit):
        metrics(capsys, "rcad", "--file", path)
    assert "predictions have no ranks" in capsys.readouterr().err


def test_an_unused_truth_column_is_refused_and_used_on_request(tmp_path, capsys):
    path = write(tmp_path, "id,prediction,answer\na,2,2\nb,0,3\nc,1,1\n")
    with pytest.raises(SystemExit):
        metrics(capsys, "mc", "--file", path)
    assert "f.csv:1: answer: looks like the right answer, but is not used; use it by --column right=answer" in (
        capsys.readouterr().err
    )
    found = metrics(capsys, "mc", "--file", path, "--column", "right=answer")
    assert (found["accuracy"], found["ignored_columns"]) == (pytest.approx(2 / 3), [])


def test_numeric_ids_and_an_index_are_not_scores(tmp_path, capsys):
    ids = write(tmp_path, "video_id,pos,neg\n4010069381,0.1,0.9\n2435100235,0.2,0.8\n")
    index = write(tmp_path, ",s0,s1\n0,0.1,0.9\n1,0.2,0.8\n2,0.3,0.7\n", "g.csv")
    for path in (ids, index):
        assert metrics(capsys, "rcad", "--file", path)["R@1"] == 0
        assert metrics(capsys, "mc", "--file", path)["accuracy"] == 0
    named = write(tmp_path, "qid,pos,neg\n7,0.1,0.9\n", "h.csv")
    assert metrics(capsys, "mc", "--file", named)["ignored_columns"] == ["qid"]
    assert metrics(capsys, "mc", "--file", named, "--column", "id=qid")["ignored_columns"] == []


def test_the_header_of_an_array_is_not_a_record(tmp_path):
    assert read_choices(write(tmp_path, "0,1,2\n0.5,0.1,0.2\n0.1,0.5,0.2\n")).scores.tolist() == [
        [0.5, 0.1, 0.2],
        [0.1, 0.5, 0.2],
    ]
    with pytest.raises(ActionableError, match="0,1 may be a row of scores, or the names of an array's columns"):
        read_choices(write(tmp_path, "0,1\n1,0\n"))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("v1,0.3,0.2\nv2,0.1,0.2\n", r"f.csv:1: header: '0.3' is a number, not a column name"),
        ("id,caption,caption,foil\na,1,2,3\n", r"f.csv:1: header: has two columns 'caption'"),
        ("id,caption,foil,\na,1,2,3\n", r"f.csv:1: header: has no name for column 4"),
        (
            "id,good,bad\na,1,2\n",
            r"no column has a known name for scores \(its columns: id, good, bad\); .*caption=NAME",
        ),
        ("id,a1,a2,b1,b2\na,1,2,3,4\n", "no column has a known name for scores"),
        ("id,caption,foil\na,1,2,3\n", r"f.csv:2: record: has more cells than the header"),
        ("id,caption,foil\na,1\n", r"f.csv:2: record: has 2 cells where the header has 3"),
        ("id,caption,foil_1,foil_2\na,1,,2\n", r"f.csv:2: foil_1: is missing"),
        ("id,caption,foil\na,1,2\na,2,1\n", r"f.csv:3: id: 'a' occurs twice in the file \(first in line 2\)"),
        ("video_id,caption,foil\na,1,2\na,2,1\n", r"f.csv:3: video_id: 'a' occurs twice in the file"),
        ("id,caption,foil,label\na,1,2,0\n", r"f.csv:1: label: looks like the right answer"),
    ],
)
def test_ambiguous_tables_are_refused(tmp_path, text, complaint):
    for read in (read_choices, lambda path: read_pairs([path])):
        with pytest.raises(ActionableError, match=complaint):
            read(write(tmp_path, text))


def test_decimal_commas_are_read_where_semicolons_separate_cells(tmp_path):
    assert read_pairs([write(tmp_path, "id;caption;foil\na;0,5;0,2\n")]).main.tolist() == [[0.5, 0.2]]


def test_rows_without_ids_have_the_order_of_the_release_only_if_no_column_could_be_ids(tmp_path):
    rows = "\n".join(",".join(map(str, SCORES[record["id"]])) for record in RECORDS)
    for head in ("s0,s1,s2\n", "caption,foil_1,foil_2\n", ""):
        assert of(read_given(write(tmp_path, head + rows), "auto", RECORDS)) == SCORES
    numbered = "\n".join(f"{k},{line}" for k, line in enumerate(rows.split("\n")))
    assert of(read_given(write(tmp_path, ",s0,s1,s2\n" + numbered), "auto", RECORDS)) == SCORES
    with pytest.raises(
        ActionableError, match=r"there is no column of ids \(qid is not used\); say which it is, such as id=qid"
    ):
        read_given(write(tmp_path, "qid,s0,s1,s2\n" + numbered), "auto", RECORDS)


@pytest.mark.parametrize("by_key", [False, True])
def test_every_field_of_a_record_counts(tmp_path, by_key):
    about = {"subtest": "s", "test": "t", "cluster": "c", "proficiency": {"scores": [3, 4]}}
    for name, value in about.items():
        record = {"scores": [1, 2], name: value}
        text = json.dumps({"a": record} if by_key else {"id": "a", **record})
        data = read_pairs([write(tmp_path, text, "f.json" if by_key else "f.jsonl")])
        said = {"subtest": data.subtests, "test": data.tests, "cluster": data.clusters}
        assert data.main.tolist() == [[1, 2]]
        if name == "proficiency":
            assert data.proficiency.tolist() == [[3, 4]]
        else:
            assert said[name] == ["cluster c" if name == "cluster" else value]


def test_a_duplicate_name_in_a_record_is_refused(tmp_path):
    path = write(
        tmp_path, '{"id":"a","caption":1,"foils":[0]}\n{"id":"b","caption":1,"caption":0,"foils":[0]}\n', "f.jsonl"
    )
    with pytest.raises(ActionableError, match=r"f.jsonl:2: JSON: has the field 'caption' twice"):
        read_pairs([path])
    path = write(tmp_path, '{"a": {"scores": [1, 0], "scores": [0, 1]}}', "f.json")
    with pytest.raises(ActionableError, match=r"f.json:1: JSON: .*has the field 'scores' twice"):
        read_pairs([path])


def test_a_pair_inside_a_record_has_its_own_direction(tmp_path):
    pair = {"caption": 1.0, "foils": [2.0]}
    lines = [
        {"id": "a", "caption": 2, "foils": [1], "proficiency": {**pair, "higher_is_better": False}},
        {"id": "b", "caption": 1, "foils": [2], "higher_is_better": False, "proficiency": pair},
        {"id": "c", "caption": 2, "foils": [1], "proficiency": pair},
    ]
    data = read_pairs([write(tmp_path, "\n".join(map(json.dumps, lines)), "f.jsonl")])
    assert data.proficiency.tolist() == [[-1, -2], [-1, -2], [1, 2]]


@pytest.mark.parametrize("given_text", ["id", "=x", "id=", "id=a,id=b"])
def test_a_column_is_mapped_once_by_role_and_name(given_text):
    with pytest.raises(ActionableError, match="write each role once as ROLE=NAME"):
        parse_columns(given_text)
    assert parse_columns(" id = qid ,right=answer") == {"id": "qid", "right": "answer"}


class TestPublishedPredictions:
    """A few made-up rows in the form of files that others have published."""

    def test_next_qa(self, tmp_path, capsys):
        said = {"101_6": (4, 0), "102_1": (2, 2), "103_7": (2, 2), "104_0": (1, 3), "105_2": (0, 0)}
        content = {name: {"prediction": made, "answer": right} for name, (made, right) in said.items()}
        path = write(tmp_path, json.dumps(content, indent=4), "HGA-val.json")
        assert metrics(capsys, "mc", "--file", path, "--column", "right=answer")["accuracy"] == 0.6
        with pytest.raises(SystemExit):
            metrics(capsys, "mc", "--file", path)
        assert "HGA-val.json:2: answer: looks like the right answer" in capsys.readouterr().err

    def test_videocon(self, tmp_path, capsys):
        """Scores without a header, a row a candidate, and a second file that says of each row what it is."""
        prompt = 'Does this video entail the description: "{}"?\nAI: '
        # Probabilities in half precision, which ties: right alone, tied for best with a later and an earlier, wrong.
        asked = {
            ("v/1.mp4", "how", 1): (0.25, 0.75, 0.5),
            ("v/1.mp4", "why", 0): (0.5, 0.5, 0.25),
            ("v/2.mp4", "how", 2): (0.75, 0.25, 0.75),
            ("v/2.mp4", "why", 0): (0.25, 0.5, 0.75),
        }
        scores, rows = [], [["videopath", "question", "answer", "option", "caption"]]
        for (video, question, answer), found in asked.items():
            for option, score in enumerate(found):
                text = prompt.format(f"{question}, {option}")
                scores.append([video, text, score, score, 1 - score])
                rows.append([video, question, answer, option, text])
        for name, lines in (("scores.csv", scores), ("eval.csv", rows)):
            with (tmp_path / name).open("w", newline="") as file:
                csv.writer(file).writerows(lines)
        path, beside = tmp_path / "scores.csv", tmp_path / "eval.csv"
        ask = ["mc", "--file", path, "--names", "videopath,caption,score,yes,no", "--beside", beside]
        ask += ["--column", "candidate=option", "--column", "right=answer"]
        found = {ties: metrics(capsys, *ask, "--ties", ties) for ties in ("strict", "half", "first", "optimistic")}
        assert {ties: one["accuracy"] for ties, one in found.items()} == {
            "strict": 0.25,
            "half": 0.5,
            "first": 0.5,
            "optimistic": 0.75,
        }
        assert found["half"]["ignored_columns"] == ["videopath", "caption", "yes", "no", "question"]
        (tmp_path / "eval.csv").write_text((tmp_path / "eval.csv").read_text().replace('""why, 0""', '""why, x""', 1))
        with pytest.raises(SystemExit):
            metrics(capsys, *ask)
        assert "scores.csv:7: caption: differs from eval.csv:8" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("rows", "complaint"),
        [
            ("a,0,1\na,2,0\n", r"f.csv:3: candidate: is 2 where 1 comes next in a; .* in order"),
            ("a,0,1\nb,0,1\nb,1,0\n", r"f.csv:2: candidate: is the only row of its record"),
            ("a,0,x\n", r"f.csv:2: score: is 'x'"),
        ],
    )
    def test_candidates_of_a_record_are_in_their_order(self, tmp_path, rows, complaint):
        good = read_pairs([write(tmp_path, "id,candidate,score\na,0,1\nb,0,2\na,1,3\nb,1,4\n")])
        assert of(good) == {"a": [1, 3], "b": [2, 4]}
        with pytest.raises(ActionableError, match=complaint):
            read_pairs([write(tmp_path, "id,candidate,score\n" + rows)])

    def test_names_and_a_second_file_must_fit(self, tmp_path):
        path, beside = write(tmp_path, "a,1,2\n"), write(tmp_path, "id,cluster\na,v\nb,w\n", "g.csv")
        with pytest.raises(ActionableError, match="has 3 cells; give that many names, not 2"):
            read_choices(path, names=["id", "caption"])
        with pytest.raises(ActionableError, match=r"g.csv:3: record: has no matching row in the second file"):
            read_choices(path, names=["id", "caption", "foil"], second_file=beside)
        assert read_choices(path, names=["id", "caption", "foil"]).scores.tolist() == [[1, 2]]


class TestMatrixOfTheAuthors:
    """(6N, N): row 6 q + k is text k of the video in column q."""

    def ranks(self, sim):
        """By the definition, one video after the other; a tie counts for the true text."""
        found = []
        for video in range(sim.shape[1]):
            own = sim[6 * video : 6 * video + 6, video]
            found.append(1 + int((own > own[0]).sum()))
        return np.array(found)

    def made(self, videos=40, seed=3):
        draw = np.random.default_rng(seed)
        sim = draw.integers(0, 12, (6 * videos, videos)).astype(np.float32)
        sim[::6] += 2
        return sim

    @pytest.mark.parametrize("turned", [False, True])
    def test_it_is_read_as_its_authors_read_it(self, tmp_path, capsys, turned):
        sim = self.made()
        np.save(tmp_path / "sim.npy", sim.T if turned else sim)
        found = metrics(capsys, "rcad", "--file", tmp_path / "sim.npy", "--ties", "optimistic")
        ranks = self.ranks(sim)
        assert found["n"] == 40
        assert {k: found[f"R@{k}"] for k in (1, 2, 3)} == {k: pytest.approx((ranks <= k).mean()) for k in (1, 2, 3)}
        assert (found["mean_rank"], found["median_rank"]) == (pytest.approx(ranks.mean()), np.median(ranks))
        assert found["chance"]["R@1"] == pytest.approx(1 / 6)
        assert "was read as" in found["warnings"][0]

    def test_the_control_is_computed_from_the_same_file(self, tmp_path):
        sim = self.made()
        expected = control.compute(sim[::6], draws=10)
        for name, each in (("a.npy", sim), ("b.npy", np.ascontiguousarray(sim.T))):
            np.save(tmp_path / name, each)
            assert control.compute(read_matrix(tmp_path / name), draws=10) == expected

    @pytest.mark.parametrize("shape", [(36, 6), (12, 2), (6, 36), (40, 40)])
    def test_an_ambiguous_shape_is_refused_until_a_layout_is_given(self, tmp_path, shape):
        path = tmp_path / "x.npy"
        np.save(path, np.random.default_rng(0).random(shape))
        with pytest.raises(ActionableError, match=r"x.npy: shape: .*--layout candidates"):
            read_choices(path)
        assert read_choices(path, layout="candidates").scores.shape == shape

    def test_a_given_layout_must_fit(self, tmp_path):
        path = tmp_path / "x.npy"
        np.save(path, np.ones((30, 6)))
        with pytest.raises(ActionableError, match=r"shape: is \(30, 6\); give \(6N, N\)"):
            read_choices(path, layout="texts-by-videos")

    def test_a_release_resolves_an_ambiguous_shape(self, tmp_path):
        records = [{"id": f"i{k}", "subtest": "s", "foils": list("abcde")} for k in range(36)]
        table = np.random.default_rng(0).random((36, 6))
        np.save(tmp_path / "x.npy", table)
        assert read_given(tmp_path / "x.npy", "auto", records).main.tolist() == table.tolist()
        sim = self.made(videos=36)
        np.save(tmp_path / "y.npy", sim)
        found = read_given(tmp_path / "y.npy", "rcad-npy", records)
        assert (hit(standing(found.main), "optimistic") == (self.ranks(sim) == 1)).all()
