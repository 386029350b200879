"""Sign-in, sign-out, one's own password, a new project."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from projects.views.account import account, second_factor
from projects.views.consent import consent, consent_texts
from projects.views.create_project import create_project
from projects.views.invitations import invitation_withdraw, invitations, join
from projects.views.password import AskForReset, Reset, password
from projects.views.sign_in import SignIn, sign_in_code
from projects.views.tokens import revoke_token, tokens

people_urls = [
    path("sign-in/code/", sign_in_code, name="sign_in_code"),
    path("account/", account, name="account"),
    path("account/second-factor/", second_factor, name="second_factor"),
    path("password/reset/", AskForReset.as_view(), name="password_reset"),
    path("password/reset/<slug:uidb64>/<str:token>/", Reset.as_view(), name="password_new"),
    path("join/<str:token>/", join, name="join"),
    path("projects/<slug:slug>/invitations/", invitations, name="invitations"),
    path("projects/<slug:slug>/invitations/<int:pk>/withdraw/", invitation_withdraw, name="invitation_withdraw"),
    path("projects/<slug:slug>/consent/", consent, name="consent"),
    path("projects/<slug:slug>/consent/texts/", consent_texts, name="consent_texts"),
]


app_name = "projects"
urlpatterns = [
    *people_urls,
    path("sign-in/", SignIn.as_view(), name="sign_in"),
    path("sign-out/", LogoutView.as_view(), name="sign_out"),
    path("password/", password, name="password"),
    path("projects/new/", create_project, name="create"),
    path("tokens/", tokens, name="tokens"),
    path("tokens/<int:pk>/revoke/", revoke_token, name="revoke_token"),
]
