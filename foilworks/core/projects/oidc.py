"""Sign-in by an identity provider (OpenID Connect): allauth speaks the protocol, who comes in is decided here.

Loaded only where OIDC_URL names a provider. An identity opens the account that it was tied to, on the account page or
at its first sign-in where OIDC_SIGN_UP is set; an e-mail address alone opens nothing.
"""

import secrets
from typing import Any, NoReturn

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.crowd_entry import require_proof
from foilworks.core.projects.demo_accounts import is_published
from foilworks.core.projects.errors import EntryRefused
from foilworks.core.projects.models import User
from foilworks.core.projects.sign_in_views import complete_login


class Adapter(DefaultSocialAccountAdapter):
    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> NoReturn:
        """The provider has said who it is; everything further is ours."""
        raise ImmediateHttpResponse(arrive(request, sociallogin))

    def on_authentication_error(self, request: HttpRequest, provider: Any, **kwargs: Any) -> NoReturn:
        messages.error(request, _("The identity provider rejected the sign-in. Try again, or sign in with a password."))
        raise ImmediateHttpResponse(redirect("projects:sign_in"))

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return settings.OIDC_SIGN_UP


def arrive(request: HttpRequest, sociallogin: SocialLogin) -> HttpResponse:
    """Signs in, or ties the identity to the account that is signed in. EntryRefused for one that nobody knows."""
    next_url = sociallogin.state.get("next") or ""
    if request.user.is_authenticated:
        return _tie(request, sociallogin)
    if sociallogin.is_existing:
        if not sociallogin.user.is_active:
            raise EntryRefused(_("This account is closed. Ask a site administrator."), "identity of a closed account")
        return complete_login(request, sociallogin.user, next_url)
    if not settings.OIDC_SIGN_UP:
        raise EntryRefused(
            _("No account is linked to this identity. Sign in with a password and link it on your account page."),
            "identity unknown",
        )
    return complete_login(request, _new_account(sociallogin), next_url)


def _tie(request: HttpRequest, sociallogin: SocialLogin) -> HttpResponse:
    require_proof(request)
    person = request.user
    if is_published(person) or (sociallogin.is_existing and sociallogin.user.pk != person.pk):
        raise EntryRefused(_("This identity cannot be linked to this account."), "identity of another account")
    if not sociallogin.is_existing:
        _store(User.objects.get(pk=person.pk), sociallogin)
    messages.success(request, _("You can now sign in with %(name)s.") % {"name": settings.OIDC_NAME})
    return redirect("projects:account")


@transaction.atomic
def _new_account(sociallogin: SocialLogin) -> User:
    """Named as the provider names the person, where that name is free and possible; else by a name of no meaning."""
    name = str(sociallogin.account.extra_data.get("userinfo", {}).get("preferred_username", ""))[:150]
    try:
        UnicodeUsernameValidator()(name)
        is_taken = User.objects.filter(username__iexact=name).exists()
    except ValidationError:
        is_taken = True
    person = User(username=f"person-{secrets.token_hex(5)}" if is_taken else name)
    person.set_unusable_password()
    person.save()
    _store(person, sociallogin)
    return person


@transaction.atomic
def _store(person: User, sociallogin: SocialLogin) -> None:
    """The subject alone is kept of what the provider said: no name, no address, no token."""
    account = sociallogin.account
    account.user, account.extra_data = person, {}
    account.save()
    audit.record(audit.event(None, person, "projects.tie_identity", person))
