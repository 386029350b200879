"""Run by test_oidc.py in a process of its own, for the settings read OIDC_URL once: people who sign in by a provider.

Prints one JSON object of what happened. The provider is a small server on this machine.
"""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

IDENTITY = {"sub": "subject-1", "preferred_username": "nora", "email": "nora@example.org", "email_verified": True}


class Provider(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        base = f"http://127.0.0.1:{self.server.server_port}"
        configuration = {
            "issuer": base,
            "authorization_endpoint": f"{base}/authorize",
            "token_endpoint": f"{base}/token",
            "userinfo_endpoint": f"{base}/userinfo",
            "jwks_uri": f"{base}/keys",
        }
        self.answer(IDENTITY if self.path == "/userinfo" else configuration)

    def do_POST(self) -> None:
        ASKED.append(parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode()))
        self.answer({"access_token": "token", "token_type": "Bearer"})

    def answer(self, data: dict) -> None:
        body = json.dumps(data).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


# What the provider was sent for a token.
ASKED: list[dict] = []
server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
threading.Thread(target=server.serve_forever, daemon=True).start()
os.environ["OIDC_URL"] = f"http://127.0.0.1:{server.server_port}"
os.environ["OIDC_CLIENT"], os.environ["OIDC_SECRET"], os.environ["OIDC_NAME"] = "foilworks", "secret", "Campus"
os.environ["DJANGO_SETTINGS_MODULE"] = "foilworks.site.settings"

import django  # noqa: E402
from django.conf import settings  # noqa: E402

# Tables straight from the models: what the migrations make is tried elsewhere.
settings.MIGRATION_MODULES = {app.rpartition(".")[2]: None for app in settings.INSTALLED_APPS}
settings.DATABASES["default"]["NAME"] = ":memory:"
django.setup()

from django.core.management import call_command  # noqa: E402
from django.test import Client  # noqa: E402

from foilworks.core.projects.actions.accounts import begin_second_factor  # noqa: E402
from foilworks.core.projects.crowd_entry import UNPROVED  # noqa: E402
from foilworks.core.projects.models import AuditEvent, SecondFactor, User  # noqa: E402

call_command("migrate", run_syncdb=True, verbosity=0)


def visit(client: Client, state: str = "") -> tuple[int, str]:
    """(status, where to) of the way to the provider and back."""
    asked = client.post("/sign-in/oidc/oidc/login/?next=/account/")
    sent = parse_qs(urlsplit(asked["Location"]).query)
    back = client.get("/sign-in/oidc/oidc/login/callback/", {"code": "c", "state": state or sent["state"][0]})
    return back.status_code, back.headers.get("Location", "")


def signed_in_as(client: Client) -> str:
    pk = client.session.get("_auth_user_id")
    return User.objects.get(pk=pk).username if pk else ""


found: dict[str, object] = {"page": "Sign in with Campus" in Client().get("/sign-in/").content.decode()}
stranger = Client()
found["unknown"] = [*visit(stranger), signed_in_as(stranger)]
# The same address: it opens nothing.
ann = User.objects.create_user("ann", "nora@example.org", "correct horse")
found["same address"] = [*visit(stranger), signed_in_as(stranger)]
found["refused"] = list(AuditEvent.objects.filter(action="projects.refused").values_list("reason", flat=True))
found["forged state"] = [*visit(Client(), state="forged")]
guest = Client()
guest.force_login(User.objects.create_user("crowd-1"), backend="foilworks.core.projects.sign_in.sessions.OwnAccounts")
session = guest.session
session[UNPROVED] = True
session.save()
found["tied by ids alone"] = [*visit(guest)]
own = Client()
own.force_login(ann, backend="foilworks.core.projects.sign_in.sessions.OwnAccounts")
found["tied"] = [*visit(own)]
again = Client()
found["known"] = [*visit(again), signed_in_as(again)]
other = Client()
other.force_login(User.objects.create_user("abe"), backend="foilworks.core.projects.sign_in.sessions.OwnAccounts")
found["tied to another"] = [*visit(other)]
begin_second_factor(ann)
SecondFactor.objects.update(confirmed_at="2026-01-01T00:00Z")
two_steps = Client()
found["second factor"] = [*visit(two_steps), signed_in_as(two_steps)]
User.objects.filter(pk=ann.pk).update(is_active=False)
closed = Client()
found["closed"] = [*visit(closed), signed_in_as(closed)]
settings.OIDC_SIGN_UP = True
IDENTITY["sub"] = "subject-2"
new = Client()
found["sign-up"] = [*visit(new), signed_in_as(new), User.objects.get(username="nora").email]
sent = parse_qs(urlsplit(Client().post("/sign-in/oidc/oidc/login/")["Location"]).query)
found["challenge"] = [sent["code_challenge_method"], len(sent["code_challenge"][0])]
found["verifiers"] = [len({asked["code_verifier"][0] for asked in ASKED}), len(ASKED)]
json.dump(found, sys.stdout)
