"""Sign in; where a demo project exists, its published accounts are offered, one button each."""

from typing import Any

from django.contrib.auth.views import LoginView
from django.urls import reverse

from projects.published import published_accounts


class SignIn(LoginView):
    template_name = "projects/sign_in.html"
    redirect_authenticated_user = True

    def get_success_url(self) -> str:
        """Who has a temporary password is asked for one of their own first."""
        if self.request.user.password_is_temporary:
            return reverse("projects:password")
        return super().get_success_url()

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs, demos=published_accounts())
