"""What every test shares. Three named people stand for the three relations to a project: owner, member, stranger."""

import gc
import os
import pickle
import re
import sys
import tempfile
from collections.abc import Iterator
from itertools import count, zip_longest
from pathlib import Path
from typing import Any

# Before Django reads its settings: tests live in a home of their own, beside any live one, and reach no model hub.
_HOME = tempfile.TemporaryDirectory(prefix="foilworks-test-")
os.environ["FOILWORKS_HOME"] = _HOME.name
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")
# Test processes and those that they start share the cores: a library's threads that wait for each other on a busy core
# cost up to three times the work itself.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Playwright's sync API runs an event loop in the test's thread; Django would refuse the database there.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
for _name in ("DATABASE_URL", "REDIS_URL", "STORAGE_URL"):
    os.environ.pop(_name, None)
    # Given by the tests that run others on servers of their own (tests/foilworks/test_postgresql.py, test_topology.py).
    if _given := os.environ.pop(f"FOILWORKS_TEST_{_name}", ""):
        os.environ[_name] = _given

# Where it is set, each of the hundreds of processes that tests start would compile the product anew, and each test
# process all tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

import django.conf  # noqa: E402
import hypothesis  # noqa: E402
import pytest  # noqa: E402
from django.test import override_settings  # noqa: E402
from hypothesis.internal.conjecture import providers  # noqa: E402
from whitenoise.middleware import WhiteNoiseMiddleware  # noqa: E402

from generation.balance import classifier  # noqa: E402
from tests.emptied import empty_after_committing_tests  # noqa: E402

# What a test is taken to last, for the order in which files are begun; `@pytest.mark.slow(seconds=90)` says it.
USUAL_SECONDS, BROWSER_SECONDS, SLOW_SECONDS = 0.15, 3.5, 15.0
BROWSER = "tests/e2e/"
_FOLDERS = count()

# The same examples every time: what holds today holds tomorrow, or a change is to blame. New ones are looked for
# by hand: HYPOTHESIS_PROFILE=search make test ARGS="-k …".
# How long an example takes says how busy the machine is: nothing fails for it, here as where CI is set.
_BUSY = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile("repeated", derandomize=True, **_BUSY)
hypothesis.settings.register_profile("search", derandomize=False, **_BUSY)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "repeated")
hypothesis.settings.load_profile(PROFILE)
if PROFILE == "repeated":
    # Hypothesis also tries the constants of whichever of our modules are loaded, and that is another set in each run,
    # by what this process happened to test before. It has no setting for that; a search keeps them.
    providers._get_local_constants = lambda: providers._local_constants

# pytest-django sets Django up only where the settings were loaded already, and here they could not be until now.
django.setup()
# Processes that tests start are the product's; those that run the tests' own jobs name tests.settings.
os.environ["DJANGO_SETTINGS_MODULE"] = "foilworks.site.settings"
# A process that inherits DJANGO_SETTINGS_MODULE reads them before this file: another home, another database.
_early = "settings were read before tests/conftest.py: start tests without DJANGO_SETTINGS_MODULE"
assert Path(_HOME.name).resolve() == django.conf.settings.FOILWORKS_HOME, _early
# The real hashers cost 0.3 s a person; passwords are not what these tests are about.
django.conf.settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

from tests.factories import make_project  # noqa: E402  (its models need the set-up)


def _look_through_static_files_once() -> None:
    """A test client has middleware of its own, and WhiteNoise's looks through all static files when it is made: half of
    what a request costs here. The product makes it once a process."""
    look, found = WhiteNoiseMiddleware.add_files_from_finders, {}

    def once(self: WhiteNoiseMiddleware) -> None:
        if not found:
            look(self)
            found.update(self.files)
        self.files.update(found)

    WhiteNoiseMiddleware.add_files_from_finders = once


def _train_on_equal_texts_once() -> None:
    """Each frozen release trains classifiers on its texts, and most tests freeze the same few: nine of ten trainings
    were of a matrix that the process had trained on before."""
    train, trained = classifier._weights, {}

    def once(*counts: Any) -> Any:
        key = pickle.dumps(counts)
        if key not in trained:
            trained[key] = train(*counts)
        return trained[key]

    classifier._weights = once


_look_through_static_files_once()
_train_on_equal_texts_once()
empty_after_committing_tests()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Test processes inherit this environment. Were the settings named in it, each would read them with our home,
    before the lines above give it one of its own: two processes would share one folder, one lock, one queue."""
    os.environ.pop("DJANGO_SETTINGS_MODULE", None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """The tests of a file stay together, so that what they share is made once. Files are begun in the order of
    collection."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return file_of(nodeid)

    return ByFile(config, log)


def file_of(nodeid: str) -> str:
    return nodeid.partition("::")[0]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest comes first: begun last, it would keep one process busy while the others are done. Files of
    the browser alternate with others: two browsers on two cores are slower than one after the other."""
    weights: dict[str, float] = {}
    for item in items:
        mark = item.get_closest_marker("slow")
        file = file_of(item.nodeid)
        usual = BROWSER_SECONDS if file.startswith(BROWSER) else USUAL_SECONDS
        seconds = usual if mark is None else mark.kwargs.get("seconds", SLOW_SECONDS)
        weights[file] = weights.get(file, 0.0) + seconds
    files = sorted(weights, key=lambda file: -weights[file])
    kinds = [[file for file in files if file.startswith(BROWSER) is browser] for browser in (True, False)]
    order = {file: place for place, file in enumerate(f for pair in zip_longest(*kinds) for f in pair if f)}
    items.sort(key=lambda item: order[file_of(item.nodeid)])


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[Any]:
    """Nothing of what a collection makes is garbage: to look for some a hundred times is a quarter of its time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """A million objects of libraries and tests stay until the end: nobody has to look through them for garbage again
    and again (statsmodels asks for that at each of its tests)."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As pytest's own, whose next number is looked for among the folders of all earlier tests: of ten thousand, that is
    longer than most tests take."""
    name = re.sub(r"\W", "_", request.node.name)[:24]
    folder = tmp_path_factory.getbasetemp() / f"{name}_{next(_FOLDERS)}"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture(autouse=True)
def own_folders(settings, tmp_path: Path) -> Iterator[None]:
    """Media, exports, models and caches of a test lie in its own folder: set together, because each setting is
    looked up through all those that were set alone."""
    names = {"MEDIA": "media", "EXPORT": "exports", "MODEL": "models", "CACHE": "cache", "UPLOAD": "uploads"}
    with override_settings(**{f"{name}_ROOT": tmp_path / folder for name, folder in names.items()}):
        yield


@pytest.fixture
def project(db) -> Any:
    return make_project()


@pytest.fixture
def every_second_gold(monkeypatch) -> None:
    """Every second piece of a person is gold where a policy mixes it in, whatever the secret says."""
    for place in ("annotation.actions.claims.gold_slots", "annotation.rules.gold_serving"):
        monkeypatch.setattr(f"{place}.gold_is_due", lambda secret, person, served, rate: rate > 0 and served % 2 == 1)


@pytest.fixture
def every_fifth_gold(monkeypatch) -> None:
    """Every fifth piece of a person is gold where a policy mixes it in, whatever the secret says."""
    for place in ("annotation.actions.claims.gold_slots", "annotation.rules.gold_serving"):
        monkeypatch.setattr(f"{place}.gold_is_due", lambda secret, person, served, rate: rate > 0 and served % 5 == 4)
