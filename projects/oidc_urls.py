"""The two addresses of the identity provider's dance, and the names that allauth may look up on its way."""

from django.conf import settings
from django.urls import include, path

from projects.views import SignIn

oidc_urls = []
if settings.OIDC_URL:
    oidc_urls = [
        path("sign-in/", include("allauth.socialaccount.providers.openid_connect.urls")),
        path("sign-in/", SignIn.as_view(), name="account_login"),
        path("sign-in/", SignIn.as_view(), name="socialaccount_login_cancelled"),
        path("sign-in/", SignIn.as_view(), name="socialaccount_login_error"),
    ]
