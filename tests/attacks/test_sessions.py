"""What browsers are made to send or show on somebody's behalf: forged forms, frames, links that lead on elsewhere."""

import pytest
from django.test import Client

from foilworks.core.projects.limits import rate_limits
from foilworks.core.projects.models import Membership
from tests.attacks.guards import Guard, guarded_by, replaced, without_setting
from tests.factories import PASSWORD, make_member, make_project, make_user

pytestmark = pytest.mark.django_db

CSRF = replaced(
    "django.middleware.csrf.CsrfViewMiddleware.process_view",
    "forms without our CSRF token are refused",
    lambda self, request, callback, args, kwargs: None,
)
FRAMES = replaced(
    "django.middleware.clickjacking.XFrameOptionsMiddleware.process_response",
    "no other site can frame our pages",
    lambda self, request, response: response,
)
LEADS_ON = Guard(
    "foilworks.core.projects.sign_in_views.url_has_allowed_host_and_scheme",
    "the sign-in redirects only to our own pages",
    lambda patch: [
        patch.setattr(f"{module}.url_has_allowed_host_and_scheme", lambda *arguments, **options: True)
        for module in ("foilworks.core.projects.sign_in_views", "django.contrib.auth.views")
    ],
)
OPENER = without_setting("SECURE_CROSS_ORIGIN_OPENER_POLICY", "windows of other sites have no reference to ours", None)
RESOURCES = replaced(
    "foilworks.site.monitoring.requests.CrossOriginMiddleware.RESOURCE_POLICY",
    "pages of other sites cannot load our responses",
    "cross-origin",
)
HOSTS = without_setting("ALLOWED_HOSTS", "links in mails and redirects use our own host name", ["*"])
SPOOFED = replaced(
    "foilworks.core.projects.limits.rate_limits.settings.TRUSTED_PROXIES",
    "addresses that a visitor claims are ignored",
    1,
)


@guarded_by(CSRF)
def test_a_form_of_another_site_writes_nothing():
    project = make_project()
    owner, ann = make_member(project, "researcher"), make_member(project, "annotator")
    visitor = Client(enforce_csrf_checks=True)
    visitor.force_login(owner)
    visitor.post(f"/projects/{project.slug}/people/{ann.pk}/roles/", {"roles": ["researcher"]})
    assert set(Membership.objects.filter(person=ann).values_list("role", flat=True)) == {"annotator"}


@guarded_by(FRAMES)
def test_no_page_is_framed(client):
    assert client.get("/sign-in/").headers.get("X-Frame-Options") == "DENY"


@guarded_by(OPENER)
def test_no_window_of_others_holds_ours(client):
    assert client.get("/sign-in/").headers.get("Cross-Origin-Opener-Policy") == "same-origin"


@guarded_by(RESOURCES)
def test_no_page_of_others_loads_our_answers(client):
    assert client.get("/sign-in/").headers.get("Cross-Origin-Resource-Policy") == "same-origin"


@guarded_by(LEADS_ON)
@pytest.mark.parametrize("wanted", ["https://evil.example/", "//evil.example/", "/\\evil.example"])
def test_a_link_to_sign_in_leads_to_nobody_else(wanted):
    make_user("ann")
    answer = Client().post(f"/sign-in/?next={wanted}", {"username": "ann", "password": PASSWORD, "next": wanted})
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/"


@guarded_by(HOSTS)
def test_another_name_of_the_host_is_not_served():
    assert Client().get("/sign-in/", headers={"host": "evil.example"}).status_code == 400


@guarded_by(SPOOFED)
def test_a_claimed_address_does_not_reset_the_count(rf):
    request = rf.get("/", headers={"x-forwarded-for": "8.8.8.8"}, REMOTE_ADDR="203.0.113.9")
    assert rate_limits.address_of(request) == "203.0.113.9"
