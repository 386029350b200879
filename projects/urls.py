"""Sign-in, sign-out, one's own password, a new project."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from projects.people_urls import people_urls
from projects.views.create_project import create_project
from projects.views.password import password
from projects.views.sign_in import SignIn
from projects.views.tokens import revoke_token, tokens

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
