"""Identity swaps count both names over the train split when the run starts, and the analysis reads the counts."""

from pathlib import Path

import pytest
from django.core.management import call_command

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.characters import read_characters
from foilworks.core.corpus.models import Caption, Split
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from generation.actions.runs import start_run
from generation.models import Candidate
from generation.run_request import FoilRequest
from tests.factories import make_caption, make_project, make_subtest, make_video

pytestmark = pytest.mark.django_db
HEADER = "movie\tname\tgender\taliases\n"
TRAIN = ("Harry runs.", "Harry and Harry sit.", "Harry sees Ron.", "Bond drives.")


@pytest.fixture
def project():
    project = make_project(slug="movies")
    for at, text in enumerate(TRAIN):
        movie = "007" if "Bond" in text else "HP"
        make_caption(make_video(project, movie=movie, split=Split.TRAIN, key=f"t{at}"), text)
    make_caption(make_video(project, movie="HP", split=Split.TEST), "Ron waves.")
    return project


def listed(path, *rows):
    path.write_text(HEADER + "".join("\t".join(row) + "\n" for row in rows))
    return str(path)


def facts_of_swaps(project):
    run = start_run(
        None,
        project,
        FoilRequest(
            subtest=make_subtest(project, name="ids"), method="identity_swap", selection={"split": "test"}, filters={}
        ),
    )
    assert run_now(run.job).state == JobState.DONE
    return Candidate.objects.get(group__run=run).facts


def test_both_names_are_counted_over_the_train_split(project, tmp_path, capsys):
    # Of test captions nothing is counted: "Ron" is in one train caption, "Harry" in three.
    people = listed(tmp_path / "c.tsv", ("HP", "Harry", "m", ""), ("HP", "Ron", "m", "Weasley"), ("X", "Y", "m", ""))
    call_command("characters", people, project="movies")
    assert capsys.readouterr().out == "2 characters of 1 movies, for 4 captions\nno captions of: X\n"
    assert "characters" not in Caption.objects.get(text="Bond drives.").facts
    assert facts_of_swaps(project) == {
        "swapped": [["Ron", "Harry"]],
        "named": 1,
        "original_frequency": 1.0,
        "swapped_frequency": 3.0,
    }


def test_without_a_train_split_the_list_gives_the_frequencies(project):
    project.videos.update(split=Split.TEST)
    cast = [{"name": "Harry", "gender": "m", "frequency": 7}, {"name": "Ron", "gender": "m"}]
    Caption.objects.exclude(text="Ron waves.").delete()
    Caption.objects.update(facts={"characters": cast})
    found = facts_of_swaps(project)
    assert (found["original_frequency"], found["swapped_frequency"]) == (0.0, 7.0)


def test_a_wrong_list_is_reported_with_its_line(tmp_path):
    for rows, words in (
        ((("HP", "Harry", "", ""),), "c.tsv:2: row: lacks a movie, a name or a gender"),
        ((("HP", "Harry", "m", ""),) * 2, "c.tsv:3: name: repeats a character of its movie"),
    ):
        with pytest.raises(CorpusError, match=words):
            read_characters(Path(listed(tmp_path / "c.tsv", *rows)))
