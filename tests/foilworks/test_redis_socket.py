"""The place of the socket depends on the home alone, and always fits into a socket address."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foilworks.site.supervisor.redis_socket import SOCKET_PATH_LIMIT, redis_socket_path
from tests.ports import redis_url


def test_a_short_home_holds_its_socket(tmp_path):
    assert redis_socket_path(Path("/srv/foils")) == Path("/srv/foils/redis/redis.sock")


def test_the_longest_home_that_fits_and_the_first_that_does_not():
    # "/redis/redis.sock" has 17 bytes: a home of limit - 17 bytes is the longest.
    fits = Path("/" + "h" * (SOCKET_PATH_LIMIT - 17 - 1))
    assert redis_socket_path(fits) == fits / "redis/redis.sock"
    assert len(os.fsencode(redis_socket_path(fits))) == SOCKET_PATH_LIMIT
    over = Path("/" + "h" * (SOCKET_PATH_LIMIT - 17))
    assert not redis_socket_path(over).is_relative_to(over)


def test_bytes_count_and_not_letters():
    # 50 letters of two bytes each: short to read, too long for an address.
    home = Path("/" + "é" * 50)
    assert not redis_socket_path(home).is_relative_to(home)


NAMES = st.text(alphabet=st.characters(blacklist_characters="\0/", blacklist_categories=["Cs"]), min_size=1)


@pytest.mark.full
@given(NAMES)
def test_every_home_has_one_socket_that_fits(name):
    home = Path("/srv") / name
    assert redis_socket_path(home) == redis_socket_path(home)
    assert len(os.fsencode(redis_socket_path(home))) <= SOCKET_PATH_LIMIT


def test_two_homes_never_share_a_socket():
    homes = [Path("/" + "h" * 200 + str(number)) for number in range(50)]
    assert len({redis_socket_path(home) for home in homes}) == 50


def test_the_address_survives_spaces_and_percent_signs():
    assert redis_url(Path("/srv/my foils 100%")) == "unix:///srv/my%20foils%20100%25/redis/redis.sock?db=0"


def test_the_module_does_not_import_django():
    code = "import sys; import foilworks.site.supervisor.redis_socket; sys.exit('django' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
