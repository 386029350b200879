"""Frames are described while others write: on SQLite what was begun as a read and goes on as a write fails at once."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from django.db import connection

from evaluation.utd import describers
from evaluation.utd.actions.descriptions import describe_videos
from evaluation.utd.models import FrameText
from evaluation.utd.recipes import DEMO
from evaluation.utd.requests import DescriptionRequest
from foilworks.core.jobs.runner import run_now
from tests.evaluation.utd import worlds
from tests.factories import make_project

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL has no such upgrade"),
]


def somebody_else_writes(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict) -> Any:
    """Just before each of our transactions, by a connection of their own."""
    if sql.startswith("BEGIN"):
        with closing(sqlite3.connect(connection.settings_dict["NAME"], timeout=20)) as other, other:
            other.execute("UPDATE projects_project SET description = description || '.'")
    return execute(sql, params, many, context)


def test_frames_are_described_while_other_processes_write(settings, tmp_path):
    settings.MEDIA_ROOT, settings.CACHE_ROOT = tmp_path / "media", tmp_path / "cache"
    project = make_project(slug="busy")
    shown = worlds.scenes(1, 1)[: 2 * describers.VIDEOS_PER_BATCH + 1]
    worlds.film(project, tmp_path / "clips", shown, "test", worlds.shape)
    made = describe_videos(None, project, DescriptionRequest(recipe=DEMO, frames=1))
    with connection.execute_wrapper(somebody_else_writes):
        run_now(made.job)
    project.refresh_from_db()
    assert len(project.description) >= 3
    assert FrameText.objects.filter(descriptions=made, place=1).count() == len(shown)
