"""Sign-in, sign-out, one's own password, a new project."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from projects.views.create_project import create_project
from projects.views.password import password
from projects.views.sign_in import SignIn

app_name = "projects"
urlpatterns = [
    path("sign-in/", SignIn.as_view(), name="sign_in"),
    path("sign-out/", LogoutView.as_view(), name="sign_out"),
    path("password/", password, name="password"),
    path("projects/new/", create_project, name="create"),
]
