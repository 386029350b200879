"""The file of a video: whole, in ranges, conditionally; for members only, and never anything else on the disk."""

import pytest
from django.core.files.base import ContentFile
from django.urls import reverse

from projects.models import Role
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


def test_what_no_browser_plays_is_a_download_and_never_a_page(member, project):
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
