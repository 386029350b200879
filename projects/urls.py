"""Sign-in, sign-out, a new project."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from projects.views.create_project import create_project
from projects.views.sign_in import SignIn

app_name = "projects"
urlpatterns = [
    path("sign-in/", SignIn.as_view(), name="sign_in"),
    path("sign-out/", LogoutView.as_view(), name="sign_out"),
    path("projects/new/", create_project, name="create"),
]
