"""What every test shares. Three named people stand for the three relations to a project: owner, member, stranger."""

import os
import tempfile
from pathlib import Path
from typing import Any

# Before Django reads its settings: tests live in a home of their own, beside any live one, and reach no model hub.
_HOME = tempfile.TemporaryDirectory(prefix="foilworks-test-")
os.environ["FOILWORKS_HOME"] = _HOME.name
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "foilworks.settings")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")
# Playwright's sync API runs an event loop in the test's thread; Django would refuse the database there.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
for _name in ("DATABASE_URL", "REDIS_URL", "STORAGE_URL"):
    os.environ.pop(_name, None)
# Given by the tests that run others on a PostgreSQL of their own (tests/foilworks/test_postgresql.py).
if _database := os.environ.pop("FOILWORKS_TEST_DATABASE_URL", ""):
    os.environ["DATABASE_URL"] = _database

import django  # noqa: E402
import pytest  # noqa: E402

# pytest-django sets Django up only where the settings were loaded already, and here they could not be until now.
django.setup()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Test processes inherit this environment. Were the settings named in it, each would read them with our home,
    before the lines above give it one of its own: two processes would share one folder, one lock, one queue."""
    os.environ.pop("DJANGO_SETTINGS_MODULE", None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """The tests of a file stay together, so that what they share is made once; and those of the browser do: two
    browsers on two cores are slower than one after the other. Large groups come first."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return "tests/e2e" if file.startswith("tests/e2e/") else file

    return ByFile(config, log)


@pytest.fixture(autouse=True)
def own_folders(settings, tmp_path: Path) -> None:
    """Media, exports, models and caches of a test lie in its own folder."""
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.EXPORT_ROOT = tmp_path / "exports"
    settings.MODEL_ROOT = tmp_path / "models"
    settings.CACHE_ROOT = tmp_path / "cache"
    settings.UPLOAD_ROOT = tmp_path / "uploads"
    # The real hashers cost 0.3 s a person; passwords are not what these tests are about.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
