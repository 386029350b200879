"""The data set folder for the Hub: official loaders read it, its documents say what is known, and the anonymised copy
names nobody.
"""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from datasets import load_dataset

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.export_formats import hub
from foilworks.core.corpus.export_formats.parts.anonymous import anonymised
from foilworks.core.corpus.export_formats.parts.documents import ASKED, rai_fields, unanswered_fields
from foilworks.core.corpus.export_formats.parts.facts import facts_of
from foilworks.core.corpus.export_formats.parts.leaks import Identities, search_folder
from foilworks.core.corpus.export_formats.parts.licence_ids import known_licence
from foilworks.core.corpus.records import ReleaseVote
from foilworks.core.corpus.release_documents import Citation, ReleaseDocuments, SourceTerms
from foilworks.core.corpus.release_records import hash_of
from tests.corpus.releases import release_of
from tests.corpus.test_exporters import ITEM
from tests.corpus.test_exporters_tables import FULL

ANSWERS = {slug: f"Answer of {slug}." for slugs in ASKED.values() for slug in slugs}
CITED = Citation(
    title="Seen or guessed",
    authors=("Núñez, Ana", "The Lab"),
    abstract="Pairs about videos.",
    doi="10.5555/a",
    url="https://example.org/x",
    licence="CC BY 4.0",
    contact="ana@example.org",
)
MADE = {"method": "swap", "method_version": "2", "model_id": "org/model", "author": None, "parent": None}
FILTERED = {**MADE, "filters": [{"filter": "nli", "version": "1", "passed": True, "score": 0.1}]}
GATE = {
    "rows": [
        {
            "name": "direction",
            "n_captions": 40,
            "bar": 0.6,
            "too_few": False,
            "stopped": False,
            "solved": False,
            "words": [],
            "probes": [{"probe": "classifier", "value": 0.5123, "ci": [0.41, 0.61]}],
        }
    ],
    "stopped": [],
    "override": None,
}
TABLES = {
    "divergence": {"overall": {"js": 0.1234}},
    "validation": {
        "overall": {"n_valid": 2, "n_items": 2, "n_unanimous": 1, "alpha_all": 0.7, "alpha_coding": "truth"}
    },
}


def full(**changes):
    papers = ReleaseDocuments(
        citation=CITED,
        sources=(SourceTerms("MSR-VTT", "research only", "https://example.org/d", n_items=2, n_videos=2),),
        answers=ANSWERS,
        known={"made_at": {"texts": ["2024-01-02T00:00:00", "2024-03-04T00:00:00"]}, "n_warned": 0},
    )
    release = release_of([ITEM, FULL], papers=papers, gate=GATE, tables=TABLES)
    items = [{**item, "provenance": [FILTERED for _ in item["provenance"]]} for item in release.items]
    here = ReleaseVote(items[0]["id"], None, "p-1", "caption", items[0]["subtest"])
    return replace(release, items=tuple(items), votes=(*release.votes, here), **changes)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("hub") / "out"
    hub.write(full(), out, params={})
    return out


# In a process of its own: its logging library closes the stream that it found, which here is pytest's.
READ = """
import json, sys
import mlcroissant
found = mlcroissant.Dataset(jsonld=sys.argv[1])
about = found.metadata
plain = lambda value: value.decode() if isinstance(value, bytes) else value
print(json.dumps({
    "errors": sorted(map(str, about.issues.errors)), "warnings": sorted(map(str, about.issues.warnings)),
    "rai": {name: value for name, value in about.to_json().items() if name.startswith("rai:")},
    "creators": [each.name for each in about.creators], "license": about.license, "cite": about.cite_as,
    "ids": [plain(row["choices/id"]) for row in found.records(record_set="choices")],
}))
"""


def read_officially(folder):
    command = [sys.executable, "-W", "ignore", "-c", READ, str(folder / "croissant.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.full
def test_the_official_validator_reads_every_rai_field_without_a_complaint(folder):
    found = read_officially(folder)
    assert (found["errors"], found["warnings"]) == ([], [])
    assert len(found["rai"]) == 18
    assert set(found["rai"]) >= {f"rai:{name}" for name in ASKED}
    assert found["rai"]["rai:machineAnnotationTools"] == ["filter nli 1", "swap 2 with org/model"]
    assert any("0.512 [0.410, 0.610]" in said for said in found["rai"]["rai:dataBiases"])
    assert any("0.123" in said for said in found["rai"]["rai:dataBiases"])
    assert "Answer of composition.sensitive." in found["rai"]["rai:personalSensitiveInformation"]
    assert found["creators"] == ["Núñez, Ana", "The Lab"]
    assert found["license"] == ["https://creativecommons.org/licenses/by/4.0/"]
    assert found["cite"].startswith("@misc{")
    assert len(found["ids"]) == 2


def test_fields_that_nobody_answered_are_left_out_and_named():
    release = full()
    silent = replace(release, papers=replace(release.papers, answers={}), gate=None, tables={}, votes=())
    have = rai_fields(facts_of(silent))
    assert "rai:personalSensitiveInformation" not in have
    assert "rai:annotatorDemographics" not in have
    assert "rai:dataBiases" not in have
    assert "rai:annotationsPerItem" not in have
    assert set(unanswered_fields(facts_of(silent))) >= {
        "personalSensitiveInformation",
        "dataBiases",
        "dataSocialImpact",
    }
    assert not unanswered_fields(facts_of(release))


def test_datasets_loads_each_subtest_and_the_choices(folder, tmp_path):
    card = yaml.safe_load((folder / "README.md").read_text(encoding="utf-8").split("---")[1])
    assert (card["license"], card["pretty_name"]) == ("cc-by-4.0", CITED.title)
    for config in card["configs"]:
        rows = load_dataset(str(folder), config["config_name"], split="test", cache_dir=str(tmp_path))
        assert len(rows) == 2
    # The last configuration is the one that `eval.yaml` names.
    task = yaml.safe_load((folder / "eval.yaml").read_text(encoding="utf-8"))["tasks"][0]
    assert (task["config"], task["split"]) == (config["config_name"], "test")
    spec = task["field_spec"]
    for row in rows:
        assert row[spec["choices"]]["ABC".index(row[spec["target"]])] in {ITEM.caption, FULL.caption}
        assert row[spec["input"]].endswith("?")
        assert set(spec["metadata"]) <= set(row)


def test_the_registration_has_exactly_the_fields_that_the_hub_checks(folder):
    document = yaml.safe_load((folder / "eval.yaml").read_text(encoding="utf-8"))
    assert set(document) == {"name", "description", "evaluation_framework", "tasks"}
    assert document["evaluation_framework"] == "inspect-ai"
    assert set(document["tasks"][0]) == {"id", "config", "split", "field_spec", "solvers", "scorers"}
    assert document["tasks"][0]["solvers"] == [{"name": "multiple_choice"}]
    assert document["tasks"][0]["scorers"] == [{"name": "choice"}]


def test_the_deposit_has_what_zenodo_requires(folder):
    body = json.loads((folder / "zenodo.json").read_text(encoding="utf-8"))["metadata"]
    assert body == json.loads((folder / ".zenodo.json").read_text(encoding="utf-8"))
    assert {"title", "upload_type", "description", "creators", "access_right", "license"} <= set(body)
    assert body["creators"] == [{"name": "Núñez, Ana"}, {"name": "The Lab"}]
    assert (body["license"], body["doi"], body["publication_date"]) == ("cc-by-4.0", "10.5555/a", "2024-01-01")


def test_videos_are_copied_only_where_they_were_given(tmp_path):
    source = tmp_path / "stored.MP4"
    source.write_bytes(b"frames")
    videos = {ITEM.video.key: source}
    hub.write_hub(full(), tmp_path / "out", hub.Options(videos=videos, repository="lab/set"))
    copied = list((tmp_path / "out/videos").iterdir())
    assert [path.suffix for path in copied] == [".mp4"]
    assert copied[0].read_bytes() == b"frames"
    lines = [json.loads(line) for line in (tmp_path / "out/videos.jsonl").read_text(encoding="utf-8").splitlines()]
    named = {line["key"]: line.get("file") for line in lines}
    assert named[ITEM.video.key] == copied[0].name
    assert 'load_dataset("lab/set"' in (tmp_path / "out/README.md").read_text(encoding="utf-8")
    with pytest.raises(CorpusError, match="metadata"):
        hub.write_hub(full(), tmp_path / "other", hub.Options(videos=videos, anonymous=True))


PERSON, ACCOUNT, MAIL, HOME = "Zaphod Planted", "zaphod42", "zaphod@planted.example", "/home/zaphod/videos"
PLANTED = f"{PERSON} ({ACCOUNT}, {MAIL}) keeps it in {HOME}"
SLUG = "planted-slug"


def planted():
    """A release with the names in every field that people type, or that their file names end up in."""
    release = full()
    video = {"file": f"{ACCOUNT}.mp4", "url": f"https://{ACCOUNT}.example/a.mp4", "source_dataset": PERSON}
    items = []
    for number, item in enumerate(release.items):
        own = {
            **item["video"],
            **video,
            "key": f"{ACCOUNT}-{number}",
            "source_id": f"{HOME}/{number}",
            "sha256": "f" * 64,
        }
        made = {**FILTERED, "author": ACCOUNT, "model_id": f"{HOME}/model", "params": {"note": PLANTED}}
        pair = item["proficiency"] and {**item["proficiency"], "id": f"{ACCOUNT}/p{number}", "extra": {"by": PLANTED}}
        texts = {"extra": {ACCOUNT: PLANTED}, "facts": {"note": PLANTED}, "proficiency": pair}
        made_by = [{**made, "parent": {"method": "person", "text": PLANTED}} for _ in item["provenance"]]
        items.append({**item, **texts, "id": f"{ACCOUNT}:{number}", "video": own, "provenance": made_by})
    vote = ReleaseVote(items[0]["id"], None, ACCOUNT, "caption", "direction", watch={"note": PLANTED})
    cited = Citation(PLANTED, (PERSON,), PLANTED, "2024", f"10.5555/{ACCOUNT}", f"https://{ACCOUNT}.example", PLANTED)
    papers = ReleaseDocuments(
        citation=replace(cited, licence_url=f"https://{ACCOUNT}.example/l", contact=MAIL),
        sources=(
            SourceTerms(PERSON, notes=PLANTED),
            SourceTerms("MSR-VTT", PLANTED, f"https://{ACCOUNT}.example", PLANTED),
        ),
        answers=dict.fromkeys(ANSWERS, PLANTED),
        known={
            "name": PLANTED,
            "description": PLANTED,
            "releases": [{"name": PLANTED, "created_at": "2024-01-01", "content_hash": "0"}],
            "n_warned": 1,
        },
        changes={
            "before": {"name": PLANTED, "content_hash": "0" * 64},
            "added": [ACCOUNT],
            "removed": [],
            "changed": [],
            "n_same": 0,
        },
    )
    gate = {**GATE, "override": {"reason": PLANTED, "by": ACCOUNT, "at": "2024"}}
    gate["rows"] = [{**GATE["rows"][0], "probes": [{"probe": f"vlm:{HOME}/m", "value": 0.5, "ci": [0.4, 0.6]}]}]
    withheld = ({"id": f"{ACCOUNT}:9", "taken_down_at": "2024-02-02", "reason": PLANTED, "record_sha256": "0"},)
    return replace(
        release, project=SLUG, release=f"{PERSON} 1", items=tuple(items), votes=(vote,), papers=papers, gate=gate,
        withheld=withheld, tables={**TABLES, "models": [{"label": PLANTED}]},
    )  # fmt: skip


def everything_in(folder: Path) -> str:
    """Every byte of the folder as text, and every row of its Parquet files."""
    texts = [path.relative_to(folder).as_posix() for path in folder.rglob("*")]
    for path in folder.rglob("*"):
        if path.is_file():
            texts.append(path.read_bytes().decode("utf-8", "replace"))
        if path.suffix == ".parquet":
            texts += [json.dumps(row) for row in load_dataset("parquet", data_files=str(path), split="train").to_list()]
    return "\n".join(texts).casefold()


def test_the_anonymised_copy_contains_no_planted_name_account_address_or_path(tmp_path):
    release = planted()
    hub.write(release, tmp_path / "named", params={})
    assert ACCOUNT in everything_in(tmp_path / "named")
    hub.write(release, tmp_path / "out", params={"anonymous": True})
    text = everything_in(tmp_path / "out")
    for secret in (PERSON, "zaphod", "planted", MAIL, HOME, SLUG, release.content_hash, "f" * 64):
        assert secret.casefold() not in text, secret
    assert ITEM.caption.casefold() in text
    assert not {"CITATION.cff", "citation.bib", "zenodo.json", ".zenodo.json"} & {
        path.name for path in (tmp_path / "out").iterdir()
    }
    found = read_officially(tmp_path / "out")
    assert (found["errors"], found["creators"]) == ([], ["Anonymous"])


def test_the_anonymised_copy_has_a_content_hash_of_its_own_and_public_pointers():
    shown = anonymised(full())
    assert shown.content_hash == hash_of(shown.items) != full().content_hash
    with_terms = full()
    video = {**with_terms.items[0]["video"], "source_dataset": "MSR-VTT", "source_id": "video7"}
    kept = anonymised(replace(with_terms, items=({**with_terms.items[0], "video": video},)))
    assert (kept.items[0]["video"]["source_dataset"], kept.items[0]["video"]["source_id"]) == ("MSR-VTT", "video7")
    assert kept.items[0]["caption"] == with_terms.items[0]["caption"]


def test_the_search_finds_what_the_anonymiser_does_not_touch(tmp_path):
    release = full()
    texts = {"caption": f"{PERSON} and {ACCOUNT} gallop", "foils": [f"mail {MAIL}", HOME]}
    items = ({**release.items[0], **texts, "foil_positions": [0, 1], "provenance": [None, None]},)
    hub.write(replace(release, items=items, votes=()), tmp_path / "out", params={"anonymous": True})
    people = [PERSON, ACCOUNT, "Trillian Absent", "Gallop"]
    leaks = search_folder(tmp_path / "out", Identities(people, ["10.5555/z"]))
    certain = {leak.text for leak in leaks if leak.is_certain}
    assert certain == {PERSON.casefold(), ACCOUNT, MAIL, HOME}
    subtest = search_folder(tmp_path / "out", Identities(["direction"], ordinary=["direction"]))
    assert {leak.is_certain for leak in subtest if leak.text == "direction"} == {False}
    # One word in a caption can be there by chance.
    assert {leak.text for leak in leaks if not leak.is_certain} == {"gallop"}
    assert {leak.where.split("/")[0] for leak in leaks} == {"data", "choices", "inspect"}


@pytest.mark.parametrize(
    ("text", "url", "expected"),
    [
        ("CC BY 4.0", "", "cc-by-4.0"),
        ("Creative Commons Attribution-NonCommercial 4.0 International", "", "cc-by-nc-4.0"),
        ("CC0", "", "cc0-1.0"),
        ("ours", "https://creativecommons.org/licenses/by-sa/4.0/deed.en", "cc-by-sa-4.0"),
        ("Apache License 2.0", "", "apache-2.0"),
        ("CC BY", "", None),
        ("research only", "https://example.org/terms", None),
        ("", "", None),
    ],
)
def test_licences_are_recognised_only_where_they_are_certain(text, url, expected):
    found = known_licence(text, url)
    assert (found and found.hub) == expected
