"""Sign-in, sign-out, one's own password, a new project."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from projects.views import account, consent, create_project, invitations, sign_in

app_name = "projects"
urlpatterns = [
    path("sign-in/code/", sign_in.sign_in_code, name="sign_in_code"),
    path("sign-in/with-code/", sign_in.SignInWithCode.as_view(), name="sign_in_with_code"),
    path("account/", account.account, name="account"),
    path("account/second-factor/", account.second_factor, name="second_factor"),
    path("password/reset/", account.AskForReset.as_view(), name="password_reset"),
    path("password/reset/<slug:uidb64>/<str:token>/", account.Reset.as_view(), name="password_new"),
    path("join/<str:token>/", invitations.join, name="join"),
    path("projects/<slug:slug>/invitations/", invitations.invitations, name="invitations"),
    path(
        "projects/<slug:slug>/invitations/<int:pk>/withdraw/",
        invitations.invitation_withdraw,
        name="invitation_withdraw",
    ),
    path("projects/<slug:slug>/consent/", consent.consent, name="consent"),
    path("projects/<slug:slug>/consent/texts/", consent.consent_texts, name="consent_texts"),
    path("sign-in/", sign_in.SignIn.as_view(), name="sign_in"),
    path("sign-out/", LogoutView.as_view(), name="sign_out"),
    path("password/", account.password, name="password"),
    path("projects/new/", create_project.create_project, name="create"),
    path("tokens/", account.tokens, name="tokens"),
    path("tokens/<int:pk>/revoke/", account.revoke_token, name="revoke_token"),
]
