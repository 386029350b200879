"""Signing in: a second factor, wrong tries that come to an end, a forgotten password."""

import re
from datetime import UTC, datetime, timedelta

import pyotp
import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from foilworks.core.projects.actions.accounts import begin_second_factor, check_second_factor, confirm_second_factor
from foilworks.core.projects.errors import AccessDenied, ProjectError
from foilworks.core.projects.models import AuditEvent, RateLimitCounter, RecoveryCode, SecondFactor, User
from foilworks.core.projects.sign_in.second_factor import step_of
from tests.factories import PASSWORD, make_member, make_project, make_user

pytestmark = pytest.mark.django_db
SIGN_IN = {"username": "ann", "password": PASSWORD}
WRONG = {"username": "ann", "password": "wrong"}


@pytest.fixture
def ann() -> User:
    return make_user("ann", email="ann@example.org")


def code_at(person: User, moment: datetime | None = None) -> str:
    return pyotp.TOTP(SecondFactor.objects.get(person=person).secret).at(moment or timezone.now())


def set_up(person: User) -> list[str]:
    """Recovery codes; the code of a minute ago was used for it, so that the one of now is fresh."""
    begin_second_factor(person)
    past = timezone.now() - timedelta(minutes=1)
    return confirm_second_factor(person, code_at(person, past), now=past)


def signed_in(client) -> bool:
    return "_auth_user_id" in client.session


def test_the_codes_are_those_of_rfc_6238():
    """The secret "12345678901234567890": its last six digits at 59 and 1111111109 s (RFC 6238, Sec. B)."""
    secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    for seconds, code in ((59, "287082"), (1111111109, "081804"), (20000000000, "353130")):
        moment = datetime.fromtimestamp(seconds, UTC)
        assert step_of(secret, code, moment) == seconds // 30
        assert step_of(secret, code, moment + timedelta(seconds=30)) == seconds // 30
        assert step_of(secret, code, moment + timedelta(seconds=90)) is None
        assert step_of(secret, "000000", moment) is None


def test_the_second_factor_is_required_before_the_sign_in(client, ann):
    set_up(ann)
    answer = client.post("/sign-in/", {**SIGN_IN, "next": "/account/"})
    assert (answer["Location"], signed_in(client)) == ("/sign-in/code/", False)
    assert client.get("/account/").status_code == 302
    assert client.post("/sign-in/code/", {"code": "000000"}).status_code == 422
    assert not signed_in(client)
    code = code_at(ann)
    assert client.post("/sign-in/code/", {"code": f"{code[:3]} {code[3:]}"})["Location"] == "/account/"
    assert signed_in(client)


def test_a_code_works_once(client, ann):
    set_up(ann)
    code = code_at(ann)
    assert check_second_factor(ann, code)
    assert not check_second_factor(ann, code)
    client.post("/sign-in/", SIGN_IN)
    assert client.post("/sign-in/code/", {"code": code}).status_code == 422


def test_a_recovery_code_opens_once_and_is_stored_as_a_hash(client, ann):
    codes = set_up(ann)
    assert len(set(codes)) == 10
    assert not RecoveryCode.objects.filter(digest__in=codes).exists()
    client.post("/sign-in/", SIGN_IN)
    assert client.post("/sign-in/code/", {"code": codes[0].upper().replace("-", " ")}).status_code == 302
    assert signed_in(client)
    assert not check_second_factor(ann, codes[0])
    assert RecoveryCode.objects.count() == 9
    assert AuditEvent.objects.filter(action="projects.use_recovery_code", actor=ann).count() == 1


def test_guessing_codes_comes_to_an_end(client, ann):
    set_up(ann)
    client.post("/sign-in/", SIGN_IN)
    for _ in range(8):
        assert client.post("/sign-in/code/", {"code": "000000"}).status_code == 422
    assert client.post("/sign-in/code/", {"code": code_at(ann)}).status_code == 429
    assert not signed_in(client)


def test_the_second_step_waits_ten_minutes(client, ann, monkeypatch):
    set_up(ann)
    client.post("/sign-in/", SIGN_IN)
    session = client.session
    session["second_factor"] = {**session["second_factor"], "at": session["second_factor"]["at"] - 601}
    session.save()
    assert client.post("/sign-in/code/", {"code": code_at(ann)})["Location"] == "/sign-in/"
    assert not signed_in(client)


def test_it_is_set_up_and_removed_on_the_account_pages(client, ann):
    client.force_login(ann)
    page = client.get("/account/second-factor/")
    secret = SecondFactor.objects.get(person=ann).secret
    assert secret in page.content.decode()
    assert page["Cache-Control"].startswith("max-age=0")
    assert client.post("/account/second-factor/", {"code": "000000"}).status_code == 422
    assert SecondFactor.objects.get().confirmed_at is None
    past = code_at(ann, timezone.now() - timedelta(seconds=30))
    shown = client.post("/account/second-factor/", {"code": past}).content.decode()
    codes = re.findall(r"<li>([a-z0-9]{5}-[a-z0-9]{5})</li>", shown)
    assert len(codes) == 10
    # The key is never shown again, and no change is made without a code.
    assert secret not in client.get("/account/second-factor/").content.decode()
    assert client.post("/account/second-factor/", {"code": "1", "do": "remove"}).status_code == 422
    assert client.post("/account/second-factor/", {"code": codes[0], "do": "remove"})["Location"] == "/account/"
    assert not SecondFactor.objects.exists()
    assert not RecoveryCode.objects.exists()


def test_a_published_account_has_none():
    demo = make_user("demo")
    hint = {"accounts": [{"username": "demo", "role": "annotator", "password": PASSWORD}]}
    make_project(is_simulated=True, sign_in_hint=hint)
    with pytest.raises(AccessDenied, match="lock out"):
        begin_second_factor(demo)


def test_one_that_is_set_up_is_not_set_up_again(ann):
    set_up(ann)
    with pytest.raises(ProjectError, match="already"):
        begin_second_factor(ann)


def test_where_it_is_required_owners_pages_wait_for_it(client, settings):
    settings.REQUIRE_TWO_FACTOR = True
    project = make_project()
    owner, ann = make_member(project, "researcher"), make_member(project, "annotator")
    client.force_login(owner)
    assert client.get(f"/projects/{project.slug}/videos/")["Location"] == "/account/second-factor/"
    set_up(owner)
    assert client.get(f"/projects/{project.slug}/videos/").status_code == 200
    client.force_login(ann)
    assert client.get(f"/projects/{project.slug}/work/").status_code == 200


def test_wrong_passwords_come_to_an_end_and_the_right_one_waits_with_them(client, ann):
    for _ in range(10):
        assert client.post("/sign-in/", WRONG).status_code == 200
    assert client.post("/sign-in/", SIGN_IN).status_code == 429
    reasons = AuditEvent.objects.filter(action="projects.refused").order_by("pk").values_list("reason", "target_id")
    assert list(reasons) == [("wrong password", str(ann.pk))] * 10 + [("TooManyTries", "")]
    # From elsewhere the person themself still comes in; a quarter of an hour later from here, too.
    assert client.post("/sign-in/", SIGN_IN, REMOTE_ADDR="10.0.0.2").status_code == 302
    client.logout()
    RateLimitCounter.objects.update(ends_at=timezone.now())
    assert client.post("/sign-in/", SIGN_IN).status_code == 302
    assert not any("ann" in key for key in RateLimitCounter.objects.values_list("key", flat=True))


def guess_from(client, networks: int, each: int = 10) -> None:
    for number in range(networks):
        for _ in range(each):
            client.post("/sign-in/", WRONG, REMOTE_ADDR=f"10.9.{number}.1")


def test_guessing_strangers_lock_nobody_out(client, ann):
    """A hundred wrong passwords from ten networks: the owner comes in from a new one, and guessers get fewer tries."""
    guess_from(Client(), 10)
    assert client.post("/sign-in/", SIGN_IN, REMOTE_ADDR="10.0.0.2").status_code == 302
    guesser = Client()
    statuses = [guesser.post("/sign-in/", WRONG, REMOTE_ADDR="10.0.0.3").status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]


def test_a_browser_that_signed_in_before_counts_for_itself(client, ann):
    """Strangers behind the same address as the owner close the page to each other, and to no known browser."""
    assert client.post("/sign-in/", SIGN_IN).status_code == 302
    client.post("/sign-out/")
    stranger = Client()
    assert {stranger.post("/sign-in/", WRONG).status_code for _ in range(12)} == {200, 429}
    assert stranger.post("/sign-in/", SIGN_IN).status_code == 429
    assert client.post("/sign-in/", SIGN_IN).status_code == 302
    client.post("/sign-out/")
    # Its own wrong tries have an end, too, and it is known for this account alone.
    assert [client.post("/sign-in/", WRONG).status_code for _ in range(11)][-1] == 429
    make_user("bob")
    for _ in range(10):
        stranger.post("/sign-in/", {**WRONG, "username": "bob"})
    assert client.post("/sign-in/", {**SIGN_IN, "username": "bob"}).status_code == 429


def test_the_cookie_of_a_known_browser_cannot_be_made_up(client, ann):
    assert client.post("/sign-in/", SIGN_IN).status_code == 302
    (name,) = [name for name in client.cookies if name.startswith("known-")]
    assert client.cookies[name]["httponly"]
    client.post("/sign-out/")
    client.cookies[name] = client.cookies[name].value[:-1] + "x"
    for _ in range(10):
        Client().post("/sign-in/", WRONG)
    assert client.post("/sign-in/", SIGN_IN).status_code == 429


def test_a_right_second_factor_opens_where_wrong_passwords_closed(client, ann):
    set_up(ann)
    for _ in range(11):
        client.post("/sign-in/", WRONG)
    refused = client.post("/sign-in/", SIGN_IN)
    assert refused.status_code == 429
    assert "/sign-in/with-code/" in refused.content.decode()
    assert client.get("/sign-in/with-code/").status_code == 200
    said = [
        client.post("/sign-in/with-code/", {**given, "code": "000000"}).content.decode().count("correct username")
        for given in (SIGN_IN, WRONG)
    ]
    assert said == [1, 1]
    assert client.post("/sign-in/with-code/", {**SIGN_IN, "code": code_at(ann)})["Location"] == "/"
    assert signed_in(client)


def test_without_a_second_factor_a_code_does_not_sign_in(client, ann):
    for _ in range(8):
        assert client.post("/sign-in/with-code/", {**SIGN_IN, "code": "000000"}).status_code == 200
    assert client.post("/sign-in/with-code/", {**SIGN_IN, "code": "000000"}).status_code == 429
    assert not signed_in(client)


def test_addresses_of_one_ipv6_customer_count_together(client, ann):
    for number in range(10):
        client.post("/sign-in/", WRONG, REMOTE_ADDR=f"2001:db8:1:2::{number + 1:x}")
    assert client.post("/sign-in/", SIGN_IN, REMOTE_ADDR="2001:db8:1:2:ffff::1").status_code == 429
    assert client.post("/sign-in/", SIGN_IN, REMOTE_ADDR="2001:db8:1:3::1").status_code == 302


def test_the_right_password_ends_the_counting(client, ann):
    for _ in range(9):
        client.post("/sign-in/", WRONG)
    assert client.post("/sign-in/", SIGN_IN).status_code == 302
    client.logout()
    assert client.post("/sign-in/", WRONG).status_code == 200


def test_a_forwarded_address_is_believed_only_behind_a_proxy_of_ours(client, ann, settings):
    for n in range(10):
        client.post("/sign-in/", WRONG, headers={"X-Forwarded-For": f"1.1.1.{n}"})
    assert client.post("/sign-in/", SIGN_IN, headers={"X-Forwarded-For": "2.2.2.2"}).status_code == 429
    settings.TRUSTED_PROXIES = 1
    assert client.post("/sign-in/", SIGN_IN, headers={"X-Forwarded-For": "9.9.9.9, 2.2.2.2"}).status_code == 302


def test_a_forgotten_password_is_reset_by_a_link_that_works_once(client, ann, settings):
    settings.EMAIL_BACKEND, settings.MAIL_IS_SET = "django.core.mail.backends.locmem.EmailBackend", True
    assert client.post("/password/reset/", {"email": "ann@example.org"})["Location"] == "/sign-in/"
    link = re.search(r"http://testserver(\S+)", mail.outbox[0].body).group(1)
    form = client.get(link)["Location"]
    new = {"new_password1": "quite another 42", "new_password2": "quite another 42"}
    assert client.post(form, new)["Location"] == "/sign-in/"
    ann.refresh_from_db()
    assert ann.check_password("quite another 42")
    assert "was already used" in client.get(link).content.decode()
    assert AuditEvent.objects.filter(action="projects.change_password").count() == 1


def test_the_page_does_not_reveal_whether_an_account_exists(client, ann, settings):
    settings.EMAIL_BACKEND, settings.MAIL_IS_SET = "django.core.mail.backends.locmem.EmailBackend", True
    known, unknown = (client.post("/password/reset/", {"email": to}) for to in ("ann@example.org", "no@example.org"))
    assert (known.status_code, known["Location"]) == (unknown.status_code, unknown["Location"])
    assert len(mail.outbox) == 1
    for _ in range(8):
        client.post("/password/reset/", {"email": "no@example.org"})
    assert client.post("/password/reset/", {"email": "no@example.org"}).status_code == 429


def test_without_a_mail_server_the_page_says_whom_to_ask(client):
    assert "cannot send email" in client.get("/password/reset/").content.decode()


def test_nobody_makes_an_account_uninvited(client):
    for path in ("/sign-up/", "/signup/", "/accounts/signup/", "/register/"):
        assert client.get(path).status_code in {302, 404}
    assert not User.objects.exists()
