"""Accounts, invitations and consent."""

from django.urls import path

from projects.views.account import account, second_factor
from projects.views.consent import consent, consent_texts
from projects.views.invitations import invitation_withdraw, invitations, join
from projects.views.password_reset import AskForReset, Reset
from projects.views.sign_in import sign_in_code

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
