"""Name the tests that try each bad input of docs/testing.md#bad-input, and fail if one is gone. Archives, which nothing
opens, are tried below."""

import ast
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command

from foilworks.core.corpus.import_formats.registry import IMPORTERS
from foilworks.core.projects.models import Project

ROOT = Path(__file__).parents[2]
TRIED = {
    "truncated JSON": ["foilworks/test_bad_input.py::test_an_unreadable_file_gives_one_line_and_stores_nothing"],
    "wrong encodings": ["foilworks/test_bad_input.py::test_an_unreadable_file_gives_one_line_and_stores_nothing"],
    "10^6-character captions": [
        "foilworks/test_bad_input.py::test_a_bad_record_is_listed_and_with_strict_nothing_is_stored",
        "text/test_diff.py::test_a_million_characters_take_no_quadratic_time",
    ],
    "duplicate ids": [
        "foilworks/test_bad_input.py::test_a_bad_record_is_listed_and_with_strict_nothing_is_stored",
        "evaluation/test_exchange_store.py::test_a_file_that_is_stored_in_parts_is_stored_as_in_one",
    ],
    "foil equal to caption": [
        "foilworks/test_bad_input.py::test_a_foil_equal_to_its_caption_is_refused_unless_people_judged_it",
        "corpus/test_import_lint.py::test_foils_that_say_too_little_are_named",
    ],
    "missing videos": ["foilworks/test_bad_input.py::test_a_missing_video_is_a_state"],
    "zero-byte and corrupt mp4": [
        "foilworks/test_bad_input.py::test_an_unusable_clip_is_reported_and_its_record_waits_for_a_better_one"
    ],
    "a text file named .mp4": [
        "foilworks/test_bad_input.py::test_an_unusable_clip_is_reported_and_its_record_waits_for_a_better_one"
    ],
    "zip slip": ["foilworks/test_bad_input_table.py::test_an_archive_is_rejected_by_every_format_without_opening_it"],
    "zip bombs": [
        "foilworks/test_bad_input_table.py::test_an_archive_is_rejected_by_every_format_without_opening_it",
        "foilworks/test_bad_input_table.py::test_an_archive_is_rejected_as_an_array_of_scores",
        "attacks/test_bombs.py::test_a_small_table_does_not_fill_the_memory",
        "attacks/test_bombs.py::test_a_small_video_does_not_fill_the_memory",
    ],
    "symlinks": [
        "attacks/test_paths.py::test_a_link_among_the_media_leads_nowhere",
        "corpus/test_attach_media.py::test_links_out_of_the_folder_are_refused",
    ],
    "../ in names": [
        "attacks/test_paths.py::test_the_video_of_a_record_is_in_the_named_folder",
        "attacks/test_paths.py::test_a_sent_file_stays_in_its_folder",
        "evaluation/test_imports_page.py::test_names_with_paths_remain_in_the_folder",
    ],
    "HTML and script in captions and feedback": [
        "foilworks/test_bad_input.py::test_hostile_text_is_stored_as_text",
        "evaluation/test_imports_page.py::test_script_in_captions_and_names_is_shown_not_run",
        "attacks/test_scripts.py::test_no_page_lets_an_inline_script_run",
    ],
    "spreadsheet formulas": [
        "corpus/test_exporters_tables.py::test_no_cell_of_a_csv_is_run_by_a_spreadsheet",
        "attacks/test_spreadsheets.py::test_no_export_writes_a_formula",
    ],
    "NUL bytes": ["foilworks/test_bad_input.py::test_a_bad_record_is_listed_and_with_strict_nothing_is_stored"],
    "right-to-left marks": ["foilworks/test_bad_input.py::test_hostile_text_is_stored_as_text"],
    "emoji and combining characters in diffs": [
        "foilworks/test_bad_input.py::test_hostile_text_is_stored_as_text",
        "text/test_diff.py::test_the_edits_always_reproduce_the_other_text",
    ],
    "NaN and infinite scores": [
        "evaluation/test_commands.py::test_a_nan_is_one_line_on_stderr_and_exit_1",
        "evaluation/test_metrics.py::test_another_shape_and_a_nan_are_named",
        "corpus/test_exporters.py::test_a_nan_score_leaves_nothing_behind",
    ],
    "negative counts": ["foilworks/test_bad_input.py::test_a_bad_record_is_listed_and_with_strict_nothing_is_stored"],
    "unknown models": [
        "foilworks/test_bad_input.py::test_an_unknown_adapter_is_answered_with_the_known_ones",
        "hub/test_pretrained.py::test_an_unknown_model_is_refused",
    ],
    "a model folder without weights": [
        "foilworks/test_bad_input.py::test_an_unavailable_model_is_reported_before_anything_starts",
        "hub/test_pretrained.py::test_a_folder_without_weights_gives_one_message",
    ],
    "a full disk": [
        "corpus/test_attach_media.py::test_a_full_disk_is_said_in_one_line",
        "corpus/test_exporters.py::test_a_failing_disk_leaves_the_earlier_export_whole",
        "jobs/test_runner.py::test_a_full_disk_gives_a_message_with_the_remedy",
    ],
    "Redis gone": [
        "jobs/test_queue.py::test_without_redis_the_row_waits_and_is_pushed_later",
        "jobs/test_queue.py::test_the_queue_survives_a_killed_redis",
    ],
    "PostgreSQL gone": ["foilworks/test_postgresql.py::test_an_unreachable_server_gives_one_line"],
    "a worker killed": [
        "jobs/test_queue.py::test_a_job_whose_worker_died_is_queued_again",
        "foilworks/test_killed_workers.py::test_a_killed_generation_run_completes_and_repeats_one_batch_at_most",
    ],
}


def test_the_list_of_bad_input_matches_the_docs():
    page = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    listed = page.partition("## Bad input")[2].partition("\n## ")[0]
    assert [line[2:] for line in listed.splitlines() if line.startswith("- ")] == list(TRIED)


@pytest.mark.parametrize("bad", TRIED)
def test_every_bad_input_is_tried(bad):
    for name in TRIED[bad]:
        path, _, test = name.partition("::")
        tree = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
        assert test in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, name


def archive(**files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name.replace("_up_", "../"), content)
    return packed.getvalue()


def failed(capsys, *arguments):
    """The one line on stderr."""
    with pytest.raises(SystemExit) as left:
        call_command(*map(str, arguments))
    assert left.value.code == 1
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.mark.django_db
@pytest.mark.parametrize("slug", IMPORTERS)
def test_an_archive_is_rejected_by_every_format_without_opening_it(slug, tmp_path, capsys):
    """A name that leads out of the folder, and what unpacks to fifty times its size."""
    folder = tmp_path / "in"
    folder.mkdir()
    path = folder / "records.zip"
    path.write_bytes(archive(_up_out="stolen", _up__up_out="stolen", bomb="0" * 10**6))
    line = failed(capsys, "import", slug, path, "--project", "p", "--create")
    assert line.startswith(f"foilworks: {path}")
    assert sorted(one.name for one in tmp_path.rglob("*")) == ["in", "records.zip"]
    assert not Project.objects.exists()


def test_an_archive_is_rejected_as_an_array_of_scores(tmp_path, capsys):
    """numpy opens an archive of arrays under any name."""
    path = tmp_path / "scores.npy"
    with path.open("wb") as file:
        np.savez_compressed(file, scores=np.zeros((1000, 1000)))
    assert failed(capsys, "metrics", "rcad", "--file", path).startswith(f"foilworks: {path}")
