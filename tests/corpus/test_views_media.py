"""The file of a video: whole, in ranges, conditionally; for members only, and never anything else on the disk."""

import os

import pytest
from django.core.files.base import ContentFile
from django.urls import reverse

from foilworks.core.corpus.video_files.player import Piece, clip_token
from foilworks.core.projects.models import Role
from tests.factories import make_member, make_project, make_user, make_video

BYTES = bytes(range(256)) * 4

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def video(project):
    video = make_video(project, sha256="ab" * 32)
    video.file.save("clip.mp4", ContentFile(BYTES))
    return video


@pytest.fixture
def url(project, video):
    return reverse("corpus:media", args=[project.slug, video.pk])


@pytest.fixture
def member(client, project):
    client.force_login(make_member(project, Role.RESEARCHER))
    return client


def body(response) -> bytes:
    return b"".join(response.streaming_content)


@pytest.fixture
def validator(project):
    return make_member(project, Role.VALIDATOR)


def clip_url(project, video, person, number: int = 1) -> str:
    return reverse("corpus:clip", args=[project.slug, clip_token(video.pk, person.pk, Piece.SLOT, number)])


def test_a_validator_is_served_only_the_clip_of_their_task(client, project, video, validator, url):
    mine = clip_url(project, video, validator)
    client.force_login(validator)
    assert body(client.get(mine)) == BYTES
    # By row number anybody could look for the clip of their piece, and how old it is.
    assert client.get(url).status_code == 403
    for wrong in (mine[:-3] + "AA/", mine.replace("clips/", "clips/A"), clip_url(project, video, make_user())):
        assert client.get(wrong).status_code == 404
    other = make_project()
    client.force_login(make_member(other, Role.RESEARCHER))
    assert client.get(mine).status_code == 404
    client.force_login(make_member(project, Role.RESEARCHER))
    assert client.get(mine).status_code == 404


def test_an_address_of_a_clip_says_nothing_about_the_clip(client, project, video, validator):
    """Same length, another one for every piece and person, the same whenever it is asked."""
    twin = make_video(project, sha256=video.sha256, file=video.file.name)
    urls = [clip_url(project, each, validator, n) for each in (video, twin) for n in (1, 2, 10**9)]
    assert len(set(urls)) == 6
    assert len({len(each) for each in urls}) == 1
    assert clip_url(project, video, validator) == urls[0]


def test_no_header_of_a_clip_depends_on_its_file(client, project, video, validator):
    """Another name, hash and time of change, of as many bytes: all headers but the validator of the address agree."""
    client.force_login(validator)
    older = make_video(project, sha256="cd" * 32)
    older.file.save("v_CricketBowling_g01_c01.mp4", ContentFile(BYTES[::-1]))
    os.utime(older.file.path, (10**9, 10**9))
    answers = [client.get(clip_url(project, each, validator)) for each in (video, older)]
    assert body(answers[1]) == BYTES[::-1]
    body(answers[0])
    own = ("ETag", "X-Request-ID")
    headers = [{name: value for name, value in answer.items() if name not in own} for answer in answers]
    assert headers[0] == headers[1]
    assert "Last-Modified" not in headers[0]
    etags = [answer["ETag"] for answer in answers]
    assert {len(etag) for etag in etags} == {66}
    assert not [each for each in (video, older) for etag in etags if each.sha256 in etag]


def test_a_browser_seeks_in_a_clip_and_keeps_it_until_its_file_changes(client, project, video, validator):
    client.force_login(validator)
    url = clip_url(project, video, validator)
    etag = client.head(url)["ETag"]
    assert client.get(url, headers={"If-None-Match": etag}).status_code == 304
    part = client.get(url, headers={"Range": "bytes=100-199", "If-Range": etag})
    assert (part.status_code, body(part)) == (206, BYTES[100:200])
    video.file.save("again.mp4", ContentFile(BYTES[:10]))
    assert body(client.get(url, headers={"If-None-Match": etag})) == BYTES[:10]


def test_a_clip_elsewhere_is_led_to_and_a_clip_without_a_file_is_404(client, project, validator, settings):
    settings.MEDIA_HOSTS = ["https://films.example"]
    client.force_login(validator)
    there = make_video(project, url="https://films.example/a.mp4")
    assert client.get(clip_url(project, there, validator))["Location"] == there.url
    assert client.get(clip_url(project, make_video(project), validator)).status_code == 404


def test_without_a_range_the_whole_file_comes(member, url):
    response = member.get(url)
    assert response.status_code == 200
    assert response["Content-Type"] == "video/mp4"
    assert response["Content-Length"] == "1024"
    assert response["Accept-Ranges"] == "bytes"
    assert body(response) == BYTES


@pytest.mark.parametrize(
    ("asked", "content_range", "expected"),
    [
        ("bytes=0-0", "bytes 0-0/1024", BYTES[:1]),
        ("bytes=100-199", "bytes 100-199/1024", BYTES[100:200]),
        ("bytes=1000-", "bytes 1000-1023/1024", BYTES[1000:]),
        ("bytes=-24", "bytes 1000-1023/1024", BYTES[1000:]),
        ("bytes=1000-9999", "bytes 1000-1023/1024", BYTES[1000:]),
    ],
)
def test_a_range_comes_as_asked(member, url, asked, content_range, expected):
    response = member.get(url, headers={"Range": asked})
    assert response.status_code == 206
    assert response["Content-Range"] == content_range
    assert response["Content-Length"] == str(len(expected))
    assert body(response) == expected


@pytest.mark.parametrize("asked", ["bytes=1024-", "bytes=5000-6000", "bytes=-0"])
def test_a_range_behind_the_end_cannot_be_satisfied(member, url, asked):
    response = member.get(url, headers={"Range": asked})
    assert response.status_code == 416
    assert response["Content-Range"] == "bytes */1024"


@pytest.mark.parametrize("asked", ["bytes=9-3", "bytes=0-1,5-6", "lines=1-2", "bytes=a-b"])
def test_a_range_that_is_none_is_ignored(member, url, asked):
    response = member.get(url, headers={"Range": asked})
    assert response.status_code == 200
    assert body(response) == BYTES


def test_head_tells_the_same_without_a_body(member, url):
    whole, part = member.head(url), member.head(url, headers={"Range": "bytes=0-9"})
    assert (whole.status_code, whole["Content-Length"], whole.content) == (200, "1024", b"")
    assert (part.status_code, part["Content-Length"], part["Content-Range"]) == (206, "10", "bytes 0-9/1024")


def test_a_browser_that_has_it_gets_304(member, url):
    first = member.get(url)
    assert first["ETag"] == f'"{"ab" * 32}"'
    assert member.get(url, headers={"If-None-Match": first["ETag"]}).status_code == 304
    assert member.get(url, headers={"If-Modified-Since": first["Last-Modified"]}).status_code == 304
    assert member.get(url, headers={"If-None-Match": '"other"'}).status_code == 200
    body(first)


def test_a_range_of_another_version_gives_the_whole_file(member, url):
    head = member.head(url)
    same = {"Range": "bytes=0-9", "If-Range": head["ETag"]}
    dated = {"Range": "bytes=0-9", "If-Range": head["Last-Modified"]}
    other = {"Range": "bytes=0-9", "If-Range": '"older"'}
    assert [member.head(url, headers=h).status_code for h in (same, dated, other)] == [206, 206, 200]


def test_an_empty_file_comes_empty(member, project):
    video = make_video(project)
    video.file.save("empty.mp4", ContentFile(b""))
    url = reverse("corpus:media", args=[project.slug, video.pk])
    response = member.get(url)
    assert (response.status_code, response["Content-Length"], body(response)) == (200, "0", b"")
    assert member.get(url, headers={"Range": "bytes=0-"}).status_code == 416


def test_unplayable_files_are_downloads_and_never_pages(member, project):
    video = make_video(project)
    video.file.save("clip.html", ContentFile(b"<script>alert(1)</script>"))
    response = member.get(reverse("corpus:media", args=[project.slug, video.pk]))
    assert response["Content-Type"] == "application/octet-stream"
    assert response["Content-Disposition"] == "attachment"
    assert response["X-Content-Type-Options"] == "nosniff"
    body(response)


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a/../../../etc/passwd"])
def test_a_stored_name_never_leaves_the_media_folder(member, project, name):
    video = make_video(project, file=name)
    assert member.get(reverse("corpus:media", args=[project.slug, video.pk])).status_code == 400


def test_a_file_that_is_gone_or_never_came_is_404(member, project, video, url):
    video.file.storage.delete(video.file.name)
    assert member.get(url).status_code == 404
    bare = make_video(project)
    assert member.get(reverse("corpus:media", args=[project.slug, bare.pk])).status_code == 404


def test_strangers_and_other_projects_do_not_find_it(client, project, video, url):
    client.force_login(make_user())
    assert client.get(url).status_code == 404
    other = make_project()
    client.force_login(make_member(other, Role.RESEARCHER))
    assert client.get(reverse("corpus:media", args=[other.slug, video.pk])).status_code == 404


def test_nothing_is_written_through_it(member, url):
    assert member.post(url).status_code == 405
