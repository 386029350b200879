"""How many requests are worked on at a time, and what does not wait for them."""

import threading
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO

import pytest
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpResponse, StreamingHttpResponse
from django.test import RequestFactory

from foilworks import admission
from foilworks.admission import SMALL_BODY_BYTES, AdmissionMiddleware

ask = RequestFactory()


class Work:
    """A view that says how many are in it at once; it ends when `go` is set."""

    def __init__(self) -> None:
        self.at_work = self.most = 0
        self.lock, self.go, self.full = threading.Lock(), threading.Event(), threading.Event()

    def __call__(self, request):
        with self.lock:
            self.at_work += 1
            self.most = max(self.most, self.at_work)
            if self.at_work == 2:
                self.full.set()
        assert self.go.wait(20)
        with self.lock:
            self.at_work -= 1
        return HttpResponse(request.body)


@pytest.fixture
def work(settings):
    settings.REQUESTS_AT_WORK = 2
    return Work()


def test_no_more_than_so_many_are_worked_on(work, monkeypatch):
    monkeypatch.setattr(admission, "LONGEST_WAIT_S", 20.0)
    middleware = AdmissionMiddleware(work)
    with ThreadPoolExecutor(6) as threads:
        answers = [threads.submit(middleware, ask.post("/", {"n": n})) for n in range(6)]
        assert work.full.wait(20)
        work.go.set()
        said = [answer.result() for answer in answers]
    assert work.most == 2
    assert all(f'name="n"\r\n\r\n{n}'.encode() in answer.content for n, answer in enumerate(said))


def test_an_upload_does_not_wait_and_keeps_nobody_waiting(work):
    middleware = AdmissionMiddleware(work)
    with ThreadPoolExecutor(4) as threads:
        held = [threads.submit(middleware, ask.get("/")) for _ in range(2)]
        assert work.full.wait(20)
        large = ask.post("/", b"x" * (SMALL_BODY_BYTES + 1), content_type="application/octet-stream")
        upload = threads.submit(middleware, large)
        while work.most < 3:
            assert not upload.done()
        work.go.set()
        assert len(upload.result().content) == SMALL_BODY_BYTES + 1
        assert [answer.result().status_code for answer in held] == [200, 200]
    assert middleware.places.acquire(blocking=False)


def test_nobody_waits_for_good_behind_slow_pages(work, monkeypatch):
    monkeypatch.setattr(admission, "LONGEST_WAIT_S", 0.05)
    middleware = AdmissionMiddleware(work)
    with ThreadPoolExecutor(3) as threads:
        answers = [threads.submit(middleware, ask.get("/")) for _ in range(3)]
        while work.most < 3:
            assert not any(answer.done() for answer in answers)
        work.go.set()
        assert [answer.result().status_code for answer in answers] == [200] * 3


def test_a_place_is_given_back_before_a_stream_is_read_and_after_an_error(settings):
    settings.REQUESTS_AT_WORK = 1
    middleware = AdmissionMiddleware(lambda request: StreamingHttpResponse(iter([b"a", b"b"])))
    for _ in range(3):
        assert middleware(ask.get("/")).streaming
        assert middleware.places.acquire(blocking=False)
        middleware.places.release()

    def fails(request):
        raise RuntimeError("the page fails")

    middleware = AdmissionMiddleware(fails)
    with pytest.raises(RuntimeError):
        middleware(ask.get("/"))
    assert middleware.places.acquire(blocking=False)


def test_a_line_that_breaks_while_it_sends_is_answered_and_keeps_no_place(settings):
    class Broken(BytesIO):
        def read(self, *size):
            raise OSError("the line broke")

    request = ask.post("/", b"x" * 10, content_type="application/octet-stream")
    request._stream = Broken()
    middleware = AdmissionMiddleware(lambda request: HttpResponse())
    assert middleware(request).status_code == 400


def test_none_at_work_is_any_number(settings):
    settings.REQUESTS_AT_WORK = 0
    with pytest.raises(MiddlewareNotUsed):
        AdmissionMiddleware(lambda request: HttpResponse())


def test_a_length_that_is_no_number_is_left_to_the_rest():
    request = ask.post("/", b"abc", content_type="text/plain", headers={"content-length": "many"})
    assert AdmissionMiddleware(lambda request: HttpResponse(b"seen"))(request).content == b"seen"
