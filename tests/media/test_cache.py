"""A cache of files: whole entries, a limit of bytes, the longest unused first; and frames kept in it."""

import hashlib
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

import numpy as np
import pytest

from foilworks.core.media import frame_cache
from foilworks.core.media.encode import write_mp4
from foilworks.core.media.errors import MediaError
from foilworks.core.media.file_cache import JUST_USED_S, ClipCache, FileCache, content_key
from foilworks.core.media.frame_cache import FORMS, JPEG, ClipRequest, FrameCache, packed, packed_frames, unpacked
from foilworks.core.media.frames import Sample, sample_frames
from foilworks.core.media.probe import file_sha256
from foilworks.core.media.sampling import CENTRES, CONSECUTIVE, INTERVALS, Sampling
from tests.media.painted import painted_clip, read_index

FOUR = Sampling(CENTRES, 4)


def key(n: int) -> str:
    return content_key(entry=n)


@pytest.fixture
def files(tmp_path: Path) -> FileCache:
    return FileCache(tmp_path / "cache", 1000)


class TestFiles:
    def test_stored_entries_come_back(self, files: FileCache) -> None:
        assert files.get(key(1)) is None
        files.put(key(1), b"one")
        files.put(key(1), b"one again")
        assert files.get(key(1)) == b"one again"
        files.drop(key(1))
        assert files.get(key(1)) is None

    def test_a_key_is_of_names_and_values(self) -> None:
        assert content_key(a=1, b=None) == content_key(b=None, a=1)
        assert len({content_key(a=1), content_key(b=1), content_key(a="1"), content_key(a=1.5)}) == 4

    def test_the_longest_unused_goes_first(self, files: FileCache) -> None:
        for n in range(9):
            files.put(key(n), bytes(100))
            os.utime(files.path(key(n)), (n, n))
        assert files.get(key(0)) is not None  # used now
        files.put(key(9), bytes(100))
        files.put(key(10), bytes(100))
        assert files.size() <= 1000
        assert files.get(key(0)) is not None
        assert files.get(key(10)) is not None
        assert files.get(key(1)) is None

    def test_room_is_made_for_a_tenth_more_and_half_written_files_count(self, files: FileCache) -> None:
        for n in range(10):
            files.put(key(n), bytes(100))
            os.utime(files.path(key(n)), (n, n))
        assert files.size() == 1000
        left = files.path(key(0)).with_name(".half")
        left.write_bytes(bytes(50))
        os.utime(left, (0, 0))
        FileCache(files.folder, 1000).put(key(10), bytes(1))
        assert not left.exists()
        assert [files.get(key(n)) is None for n in range(11)] == [True, True, *[False] * 9]
        files.clear()
        assert files.size() == 0

    def test_an_entry_larger_than_the_cache_is_not_stored(self, files: FileCache) -> None:
        files.put(key(1), bytes(10))
        files.put(key(2), bytes(1001))
        assert files.get(key(2)) is None
        assert files.get(key(1)) is not None

    def test_entries_of_other_processes_count_too(self, files: FileCache) -> None:
        other = FileCache(files.folder, 1000)
        for n in range(8):
            other.put(key(n), bytes(100))
        for n in range(8, 16):
            files.put(key(n), bytes(100))
        assert files.size() <= 1000

    def test_threads_share_it(self, files: FileCache) -> None:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda n: files.put(key(n % 5), bytes([n % 5]) * 60), range(200)))
        assert [files.get(key(n)) for n in range(5)] == [bytes([n]) * 60 for n in range(5)]

    def test_a_folder_that_cannot_be_written_costs_nothing(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        (tmp_path / "cache").write_text("a file")
        files = FileCache(tmp_path / "cache", 1000)
        files.put(key(1), b"one")
        assert files.get(key(1)) is None
        said = "cannot store an entry (Not a directory); free some space or lower its limit"
        assert caplog.messages == [f"{tmp_path / 'cache'}: {said}"]

    def test_a_cache_without_space_is_rejected(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=r"^a cache of 0 bytes is too small; set a larger limit or disable it$"):
            FileCache(tmp_path, 0)
        assert FileCache(tmp_path, 1).limit == 1


class TestFetchedFiles:
    def test_a_file_is_fetched_once_and_then_used_again(self, tmp_path: Path) -> None:
        cache, fetched = ClipCache(tmp_path / "far" / "cache", 1000), []

        def fetch(file: IO[bytes]) -> None:
            fetched.append(file.write(b"film"))

        path = cache.path(key(1), fetch)
        assert path == tmp_path / "far" / "cache" / key(1)[:2] / key(1)
        os.utime(path, (5, 5))
        assert cache.path(key(1), fetch).read_bytes() == b"film"
        assert fetched == [4]
        assert path.stat().st_mtime > 5
        assert sorted(each.name for each in path.parent.iterdir()) == [key(1)]

    def test_other_bytes_than_stated_are_refused_and_leave_nothing(self, tmp_path: Path) -> None:
        cache, stated = ClipCache(tmp_path, 1000), hashlib.sha256(b"film").hexdigest()
        said = f"^{stated[:12]}…: the stored file has other bytes; attach the file again$"
        with pytest.raises(MediaError, match=said):
            cache.path(key(1), lambda file: file.write(b"another") and None, sha256=stated)
        assert not [each for each in tmp_path.rglob("*") if each.is_file()]
        path = cache.path(key(1), lambda file: file.write(b"film") and None, sha256=stated)
        assert path.read_bytes() == b"film"

    def test_a_file_that_cannot_be_fetched_leaves_nothing(self, tmp_path: Path) -> None:
        def fetch(file: IO[bytes]) -> None:
            file.write(b"half")
            raise OSError("the store is away")

        with pytest.raises(OSError, match="the store is away"):
            ClipCache(tmp_path, 1000).path(key(1), fetch)
        assert not [each for each in tmp_path.rglob("*") if each.is_file()]

    def test_what_was_just_used_stays_even_beyond_the_limit(self, tmp_path: Path) -> None:
        cache = ClipCache(tmp_path, 0)
        paths = [cache.path(key(n), lambda file: file.write(bytes(90)) and None) for n in range(3)]
        assert all(path.exists() for path in paths)
        lately = time.time() - JUST_USED_S
        os.utime(paths[0], (lately - 9, lately - 9))
        os.utime(paths[1], (lately + 60, lately + 60))
        cache.path(key(3), lambda file: file.write(bytes(90)) and None)
        assert [path.exists() for path in paths] == [False, True, True]


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were decoded."""
    seen: list[Path] = []
    real: Callable[..., Sample] = Sampling.sample

    def sample(self: Sampling, path: Path, *rest: object) -> Sample:
        seen.append(path)
        return real(self, path, *rest)

    monkeypatch.setattr(Sampling, "sample", sample)
    return seen


class TestFrames:
    def test_lossless_frames_are_those_that_were_decoded(self, clip: Path, tmp_path: Path, decoded: list[Path]) -> None:
        cache = FrameCache(FileCache(tmp_path, 10**6))
        first, again = cache.read(ClipRequest(clip, FOUR)), cache.read(ClipRequest(clip, FOUR))
        assert len(decoded) == 1
        for sample in (first, again):
            np.testing.assert_array_equal(sample.frames, sample_frames(clip, 4).frames)
            assert sample.times.tolist() == [0.375, 1.125, 1.875, 2.625]

    @pytest.mark.parametrize("form", FORMS)
    def test_a_hit_a_miss_and_no_cache_are_equal(self, clip: Path, tmp_path: Path, form: str) -> None:
        cache = FrameCache(FileCache(tmp_path, 10**6), form)
        miss, hit = cache.read(ClipRequest(clip, FOUR)), cache.read(ClipRequest(clip, FOUR))
        without = FrameCache(None, form).read(ClipRequest(clip, FOUR))
        np.testing.assert_array_equal(miss.frames, hit.frames)
        np.testing.assert_array_equal(miss.frames, without.frames)
        assert [read_index(frame) for frame in hit.frames] == [3, 9, 15, 21]

    def test_jpeg_has_a_short_side_of_384(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(frame_cache, "SHORT_SIDE", 16)
        write_mp4(tmp_path / "clip.mp4", painted_clip(4), fps=4)  # 32 x 64
        assert FrameCache(None, JPEG).read(ClipRequest(tmp_path / "clip.mp4", FOUR)).frames.shape == (4, 16, 32, 3)
        # A size that a model asks for is what it gets.
        assert FrameCache(None, JPEG).read(ClipRequest(tmp_path / "clip.mp4", FOUR, size=(8, 8))).frames.shape == (
            4,
            8,
            8,
            3,
        )

    def test_another_trim_sampling_size_form_or_video_is_another_entry(self, clip: Path, tmp_path: Path) -> None:
        plain, small = FrameCache(None), FrameCache(None, JPEG)
        samplings = (FOUR, Sampling(CENTRES, 5), Sampling(CONSECUTIVE, 4), Sampling(INTERVALS, seconds=1.0))
        keys = [plain.key(ClipRequest(clip, one)) for one in samplings]
        keys += [
            plain.key(ClipRequest(clip, FOUR, 0.5)),
            plain.key(ClipRequest(clip, FOUR, None, 0.5)),
            plain.key(ClipRequest(clip, FOUR, size=(8, 8))),
        ]
        keys += [small.key(ClipRequest(clip, FOUR)), plain.key(ClipRequest(clip, FOUR, content="0" * 64))]
        assert len(set(keys)) == len(keys)
        # Where the file lies does not matter.
        (tmp_path / "copy.mp4").write_bytes(clip.read_bytes())
        assert plain.key(ClipRequest(tmp_path / "copy.mp4", FOUR)) == keys[0]
        assert small.key(ClipRequest(clip, FOUR, size=(8, 8))) == plain.key(ClipRequest(clip, FOUR, size=(8, 8)))

    def test_the_draw_depends_on_the_bytes(self, clip: Path, tmp_path: Path) -> None:
        """Kept or not, known by its hash or not, wherever the file lies."""
        drawn, content = Sampling(CONSECUTIVE, 4), file_sha256(clip)[0]
        (tmp_path / "copy.mp4").write_bytes(clip.read_bytes())
        kept = FrameCache(FileCache(tmp_path / "cache", 10**6))
        ways = [
            FrameCache(None).read(ClipRequest(clip, drawn)),
            FrameCache(None).read(ClipRequest(tmp_path / "copy.mp4", drawn, content=content)),
            kept.read(ClipRequest(clip, drawn, content=content)),
            kept.read(ClipRequest(clip, drawn)),
        ]
        assert len({tuple(way.times) for way in ways}) == 1
        others = {tuple(FrameCache(None).read(ClipRequest(clip, drawn, content=str(n))).times) for n in range(9)}
        assert len(others) > 1

    def test_a_broken_entry_is_made_again(self, clip: Path, tmp_path: Path, decoded: list[Path]) -> None:
        files = FileCache(tmp_path, 10**6)
        cache = FrameCache(files)
        whole = cache.read(ClipRequest(clip, FOUR))
        for broken in (b"", b"{}\n", b'{"sizes": [3], "order": [0], "times": [0]}\nabc', packed(whole, JPEG)[:-5]):
            files.put(cache.key(ClipRequest(clip, FOUR)), broken)
            np.testing.assert_array_equal(cache.read(ClipRequest(clip, FOUR)).frames, whole.frames)
        assert len(decoded) == 5

    def test_repeated_frames_are_kept_once(self) -> None:
        frame = np.random.default_rng(0).integers(0, 256, (16, 16, 3), np.uint8)
        alone, four = (packed(Sample(np.stack([frame] * n), np.zeros(n)), "lossless") for n in (1, 4))
        assert len(four) < len(alone) + 40
        found = unpacked(four)
        assert found is not None
        np.testing.assert_array_equal(found.frames, np.stack([frame] * 4))

    def test_a_video_that_cannot_be_decoded_is_not_cached(self, tmp_path: Path) -> None:
        files = FileCache(tmp_path / "cache", 10**6)
        (tmp_path / "bad.mp4").write_text("no video")
        with pytest.raises(MediaError, match=r"bad\.mp4"):
            FrameCache(files).read(ClipRequest(tmp_path / "bad.mp4", FOUR))
        with pytest.raises(MediaError, match="there is no such file"):
            FrameCache(files).read(ClipRequest(tmp_path / "none.mp4", FOUR))
        assert files.size() == 0


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [None, (16, 32)])
def test_frames_that_were_decoded_elsewhere_are_the_same_and_are_cached(tmp_path, clip, form, size):
    asked = []

    def elsewhere(*given):
        asked.append(given)
        return packed_frames(*given)

    there, here = FrameCache(FileCache(tmp_path, 10**7), form, elsewhere), FrameCache(None, form)
    sampling = Sampling(CENTRES, 3)
    expected = here.read(ClipRequest(clip, sampling, size=size))
    for _ in range(2):
        found = there.read(ClipRequest(clip, sampling, size=size))
        np.testing.assert_array_equal(found.frames, expected.frames)
        np.testing.assert_array_equal(found.times, expected.times)
        assert found.frames.flags.writeable
    assert len(asked) == 1
