"""Sign in and join; the account, consent, a new project."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import PasswordChangeForm, PasswordResetForm, SetPasswordForm
from django.contrib.auth.views import PasswordResetConfirmView, PasswordResetView
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from foilworks.core.projects.access import get_project, has_second_factor, needs_consent, require_to_create_projects
from foilworks.core.projects.actions import tokens as actions
from foilworks.core.projects.actions.accounts import (
    begin_second_factor,
    change_account,
    change_password,
    check_second_factor,
    confirm_second_factor,
    remove_second_factor,
    renew_recovery_codes,
)
from foilworks.core.projects.actions.consent import give_consent, publish_consent_text
from foilworks.core.projects.actions.creation import create_project as create
from foilworks.core.projects.actions.invitations import (
    accept_invitation,
    accept_with_new_account,
    make_invitation,
    make_team_invitations,
    withdraw_invitation,
)
from foilworks.core.projects.crowd_entry import require_proof
from foilworks.core.projects.demo_accounts import (
    NO_INVITATIONS,
    NO_PASSWORD,
    NO_PROFILE,
    NO_SECOND_FACTOR,
    NO_TOKENS,
    is_published,
    why_closed,
)
from foilworks.core.projects.errors import EntryRefused, ProjectError, TooManyTries
from foilworks.core.projects.forms.accounts import (
    AccountForm,
    CodeForm,
    ConsentForm,
    ConsentTextForm,
    InvitationForm,
    JoinForm,
    ProjectForm,
    TeamForm,
    TokenForm,
)
from foilworks.core.projects.forms.strict import refuse_other_fields
from foilworks.core.projects.invitations import (
    CLOSED_REASONS,
    closed_reason,
    has_its_roles,
    invitation_for,
    invitation_named,
    token_of,
)
from foilworks.core.projects.limits import rate_limits
from foilworks.core.projects.models import (
    WORK_OF_ROLES,
    Consent,
    ConsentText,
    Invitation,
    Membership,
    RecoveryCode,
    Role,
    User,
)
from foilworks.core.projects.pages import address_of
from foilworks.core.projects.sign_in.second_factor import picture
from foilworks.core.projects.sign_in_views import complete_login
from foilworks.core.projects.tokens import live_tokens

PER_PAGE = 50
# Links to these lead to the computer that somebody sits at.
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    require_proof(request)
    form = AccountForm(request.POST if request.method == "POST" else None, instance=request.user)
    if request.method == "POST":
        refuse_other_fields(request, form)
        if form.is_valid():
            change_account(request.user, **form.cleaned_data)
            messages.success(request, _("Saved."))
            return redirect("projects:account")
    memberships = Membership.objects.filter(person=request.user, project__deleted_at=None).select_related("project")
    context = {
        "form": form,
        "closed": why_closed(request.user, NO_PROFILE),
        "no_second_factor": why_closed(request.user, NO_SECOND_FACTOR),
        "has_second_factor": has_second_factor(request.user),
        "recovery_codes": RecoveryCode.objects.filter(person=request.user).count(),
        "oidc": settings.OIDC_NAME,
        "memberships": memberships.order_by("project__name", "role"),
    }
    return render(request, "projects/account.html", context, status=422 if form.errors else 200)


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def second_factor(request: HttpRequest) -> HttpResponse:
    """Set up a second factor, or with its code remove it or create new recovery codes."""
    require_proof(request)
    if has_second_factor(request.user):
        return _change(request)
    form = CodeForm(request.POST if request.method == "POST" else None)
    factor = begin_second_factor(request.user)
    if request.method == "POST" and form.is_valid():
        try:
            codes = confirm_second_factor(request.user, form.cleaned_data["code"])
        except ProjectError as error:
            form.add_error("code", str(error))
        else:
            return render(request, "projects/recovery_codes.html", {"codes": codes})
    context = {"form": form, "secret": factor.secret, "picture": picture(factor.secret, request.user.username)}
    return render(request, "projects/second_factor.html", context, status=422 if form.errors else 200)


def _change(request: HttpRequest) -> HttpResponse:
    form = CodeForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        if rate_limits.is_exceeded(rate_limits.SECOND_FACTOR, request.user.pk):
            raise TooManyTries(_("Too many wrong codes. Wait 15 minutes."))
        if check_second_factor(request.user, form.cleaned_data["code"]):
            if request.POST.get("do") == "remove":
                remove_second_factor(request.user)
                messages.success(request, _("Second factor removed."))
                return redirect("projects:account")
            return render(request, "projects/recovery_codes.html", {"codes": renew_recovery_codes(request.user)})
        rate_limits.hit(rate_limits.SECOND_FACTOR, request.user.pk)
        form.add_error("code", _("The code is wrong or was already used. Enter the code that the app shows now."))
    return render(request, "projects/second_factor_change.html", {"form": form}, status=422 if form.errors else 200)


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def password(request: HttpRequest) -> HttpResponse:
    form = PasswordChangeForm(request.user, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        change_password(request.user, form.cleaned_data["new_password1"])
        update_session_auth_hash(request, request.user)
        messages.success(request, _("Your password has been changed."))
        return redirect("home")
    context = {"form": form, "closed": why_closed(request.user, NO_PASSWORD)}
    return render(request, "projects/password.html", context, status=422 if form.errors else 200)


class AskForm(PasswordResetForm):
    def get_users(self, email: str) -> list[User]:
        """Send no mail to demo accounts, whose password is public, and few to one account from all networks together.

        The page says the same in each case, so that it tells nobody whether an account exists.
        """
        people = [person for person in super().get_users(email) if not is_published(person)]
        return [person for person in people if rate_limits.hit(rate_limits.RESET_ACCOUNT, person.pk)]


class AskForReset(PasswordResetView):
    template_name = "projects/password_reset.html"
    email_template_name = "projects/password_reset_mail.txt"
    subject_template_name = "projects/password_reset_subject.txt"
    form_class = AskForm
    success_url = reverse_lazy("projects:sign_in")

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not rate_limits.hit(rate_limits.RESET, rate_limits.network_of(request)):
            raise TooManyTries(_("Too many password emails requested. Wait an hour."))
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: PasswordResetForm) -> HttpResponse:
        answer = super().form_valid(form)
        messages.success(self.request, _("If an account has this address, we have sent it an email."))
        return answer

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs, by_mail=settings.MAIL_IS_SET)


class Reset(PasswordResetConfirmView):
    template_name = "projects/password_new.html"

    def form_valid(self, form: SetPasswordForm) -> HttpResponse:
        change_password(form.user, form.cleaned_data["new_password1"])
        del self.request.session["_password_reset_token"]
        messages.success(self.request, _("Your password has been changed. Sign in with the new password."))
        return redirect("projects:sign_in")


@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """List the tokens; POST creates one, and its answer is the only page that shows the secret."""
    require_proof(request)
    form = TokenForm(request.user, request.POST if request.method == "POST" else None)
    new_token = _created_token(request, form)
    context = {
        "form": TokenForm(request.user) if new_token else form,
        "closed": why_closed(request.user, NO_TOKENS),
        "made": new_token,
        "tokens": live_tokens(request.user),
    }
    response = render(request, "projects/tokens.html", context, status=422 if form.errors else 200)
    response.headers["Cache-Control"] = "no-store"
    return response


@require_POST
def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    require_proof(request)
    token = actions.revoke_token(request.user, pk)
    messages.success(request, _("The token %(name)s has been revoked.") % {"name": token.name})
    return redirect("projects:tokens")


def _created_token(request: HttpRequest, form: TokenForm) -> actions.Made | None:
    if not form.is_bound or not form.is_valid():
        return None
    try:
        return actions.make_token(request.user, **form.cleaned_data)
    except ProjectError as error:
        form.add_error(None, str(error))
        return None


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def invitations(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = InvitationForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        make_invitation(request.user, project, **form.cleaned_data)
        messages.success(request, _("Invitation created. Its link is the first in the list."))
        return redirect("projects:invitations", slug)
    return _invitations(request, form=form)


def _invitations(request: HttpRequest, **sent: Form) -> HttpResponse:
    """Show the invitations of the project with both forms; a form that was sent shows its errors."""
    rows = Invitation.objects.filter(project=request.project).select_related("created_by")
    page, now = Paginator(rows, PER_PAGE).get_page(request.GET.get("page")), timezone.now()
    for row in page:
        row.over = CLOSED_REASONS.get(closed_reason(row, now), "")
        row.role_labels = [label for role, label in Role.choices if role in row.roles]
        row.link = request.build_absolute_uri(reverse("projects:join", args=[token_of(row)]))
    context = {
        "form": InvitationForm(),
        "team": TeamForm.asked_for(request.GET),
        "is_local": split_domain_port(request.get_host())[0] in LOCAL_HOSTS and not all(row.over for row in page),
        "closed": why_closed(request.user, NO_INVITATIONS),
        "page": page,
        **sent,
    }
    has_errors = any(form.errors for form in sent.values() if form.is_bound)
    return render(request, "projects/invitations.html", context, status=422 if has_errors else 200)


@require_POST
def invite_team(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = TeamForm(request.POST)
    if form.is_valid():
        new_invitations = make_team_invitations(request.user, project, form.cleaned_data)
        words = ngettext(
            "%(n)s link created.", "%(n)s links created. Send each to the people of its role.", len(new_invitations)
        )
        messages.success(request, words % {"n": len(new_invitations)})
        return redirect("projects:invitations", slug)
    return _invitations(request, team=form)


@require_POST
def invitation_withdraw(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    if withdraw_invitation(request.user, project, pk):
        messages.success(request, _("Invitation withdrawn. Its link no longer works."))
    return redirect("projects:invitations", slug)


@sensitive_post_parameters()
@never_cache
@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Offer a person who is signed in one button; others a new account, or the sign-in page."""
    signed_in = request.user.is_authenticated
    invitation = _find_invitation(request, token)
    form = None if signed_in else JoinForm(request.POST if request.method == "POST" else None)
    if request.method == "POST":
        refuse_other_fields(request, form, project=invitation.project)
        if signed_in:
            return _welcome(request, accept_invitation(request.user, token).slug)
        if form.is_valid():
            answer = _with_new_account(request, form, token)
            if answer is not None:
                return answer
    roles = [str(WORK_OF_ROLES[role]) for role in Role.values if role in invitation.roles]
    context = {"invitation": invitation, "form": form, "roles_offered": roles, "token": token}
    return render(request, "projects/join.html", context, status=422 if form and form.errors else 200)


def _find_invitation(request: HttpRequest, token: str) -> Invitation:
    """Return the invitation; EntryRefused for an invalid one, with a rate limit."""
    address = rate_limits.network_of(request)
    if rate_limits.is_exceeded(rate_limits.ENTRY, address):
        raise TooManyTries(_("Too many invalid links from this address. Wait an hour."))
    try:
        invitation = invitation_named(token)
        is_member = request.user.is_authenticated and has_its_roles(request.user, invitation)
        return invitation if is_member else invitation_for(token)
    except EntryRefused:
        rate_limits.hit(rate_limits.ENTRY, address)
        raise


def _with_new_account(request: HttpRequest, form: JoinForm, token: str) -> HttpResponse | None:
    fields = form.cleaned_data
    try:
        person, project = accept_with_new_account(
            token, username=fields["username"], password=fields["password1"], email=fields["email"]
        )
    except ProjectError as error:
        form.add_error("username", str(error))
        return None
    messages.success(request, _("You are now a member of %(project)s.") % {"project": project.name})
    return complete_login(request, person, address_of("project", project.slug))


def _welcome(request: HttpRequest, slug: str) -> HttpResponse:
    messages.success(request, _("You are now a member."))
    return redirect(address_of("project", slug))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def consent(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the newest consent text; POST accepts it."""
    project = request.project = get_project(request.user, slug, consenting=True)
    text = ConsentText.objects.filter(project=project).first()
    form = ConsentForm(request.POST if request.method == "POST" else None, initial={"version": text and text.version})
    if request.method == "POST":
        refuse_other_fields(request, form, project=project)
        if form.is_valid():
            give_consent(request.user, project, form.cleaned_data["version"])
            messages.success(request, _("Thank you. You have accepted version %(n)s.") % {"n": text.version})
            next_url = request.POST.get("next", "")
            safe = url_has_allowed_host_and_scheme(next_url, {request.get_host()}, require_https=request.is_secure())
            return redirect(next_url if next_url and safe else address_of("work", slug))
    context = {
        "text": text,
        "form": form,
        "asked": needs_consent(request.user, project),
        "given": Consent.objects.filter(person=request.user, text__project=project).select_related("text"),
        "next": request.GET.get("next", ""),
    }
    return render(request, "projects/consent.html", context, status=422 if form.errors else 200)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def consent_texts(request: HttpRequest, slug: str) -> HttpResponse:
    """List all versions with the number of people who accepted each; POST publishes a new one."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    accepted = Count("given", filter=Q(given__withdrawn_at=None))
    withdrawn = Count("given", filter=Q(given__withdrawn_at__isnull=False, given__refused=False))
    refused = Count("given", filter=Q(given__refused=True))
    counts = {"n_given": accepted, "n_withdrawn": withdrawn, "n_refused": refused}
    texts = list(ConsentText.objects.filter(project=project).annotate(**counts))
    newest = ConsentText(text=texts[0].text, on_withdrawal=texts[0].on_withdrawal) if texts else None
    form = ConsentTextForm(request.POST if request.method == "POST" else None, instance=newest)
    if request.method == "POST" and form.is_valid():
        try:
            consent_text = publish_consent_text(request.user, project, **form.cleaned_data)
        except ProjectError as error:
            form.add_error("text", str(error))
        else:
            words = _("Version %(n)s published. People must accept it before they continue.")
            messages.success(request, words % {"n": consent_text.version})
            return redirect("projects:consent_texts", slug)
    context = {"form": form, "texts": texts}
    return render(request, "projects/consent_texts.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def create_project(request: HttpRequest) -> HttpResponse:
    require_to_create_projects(request.user)
    form = ProjectForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        project = create(request.user, **form.cleaned_data)
        messages.success(request, _("Project %(name)s created. You are its researcher.") % {"name": project.name})
        return redirect(address_of("project", project.slug))
    return render(request, "projects/create_project.html", {"form": form}, status=422 if form.errors else 200)
