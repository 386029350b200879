"""Sign-in, sign-out, one's own password, a new project."""

from django.conf import settings
from django.contrib.auth.views import LogoutView
from django.urls import include, path
from django.views.decorators.http import require_http_methods

from foilworks.core.projects import list_views, views, webhook_views
from foilworks.core.projects import sign_in_views as sign_in
from foilworks.core.projects.audit_trail import views as trail_views
from foilworks.core.projects.notifications import views as notification_views

app_name = "projects"
# Django's own view answers any method at all.
READS_AND_POSTS = require_http_methods(["GET", "HEAD", "POST"])
urlpatterns = [
    path("sign-in/code/", sign_in.sign_in_code, name="sign_in_code"),
    path("sign-in/with-code/", sign_in.SignInWithCode.as_view(), name="sign_in_with_code"),
    path("account/", views.account, name="account"),
    path("account/second-factor/", views.second_factor, name="second_factor"),
    path("notifications/", notification_views.notifications, name="notifications"),
    path("notifications/<int:pk>/", notification_views.notification, name="notification"),
    path("notifications/read/", notification_views.read_all, name="read_all"),
    path("notifications/settings/", notification_views.notification_settings, name="notification_settings"),
    path("notifications/unsubscribe/<str:token>/", notification_views.unsubscribe, name="unsubscribe"),
    path("password/reset/", views.AskForReset.as_view(), name="password_reset"),
    path("password/reset/<slug:uidb64>/<str:token>/", READS_AND_POSTS(views.Reset.as_view()), name="password_new"),
    path("join/<str:token>/", views.join, name="join"),
    path("projects/<slug:slug>/invitations/", views.invitations, name="invitations"),
    path("projects/<slug:slug>/invitations/team/", views.invite_team, name="invite_team"),
    path(
        "projects/<slug:slug>/invitations/<int:pk>/withdraw/",
        views.invitation_withdraw,
        name="invitation_withdraw",
    ),
    path("projects/<slug:slug>/consent/", views.consent, name="consent"),
    path("projects/<slug:slug>/consent/texts/", views.consent_texts, name="consent_texts"),
    path("projects/<slug:slug>/audit-trail/", trail_views.trail, name="trail"),
    path("projects/<slug:slug>/audit-trail/csv/", trail_views.trail_file, name="trail_file"),
    path("projects/<slug:slug>/webhooks/", webhook_views.webhooks, name="webhooks"),
    path("projects/<slug:slug>/webhooks/<int:pk>/", webhook_views.webhook, name="webhook"),
    path("projects/<slug:slug>/webhooks/<int:pk>/test/", webhook_views.test_webhook, name="webhook_test"),
    path("projects/<slug:slug>/webhooks/<int:pk>/rotate/", webhook_views.rotate_webhook, name="webhook_rotate"),
    path("projects/<slug:slug>/webhooks/<int:pk>/delete/", webhook_views.delete_webhook, name="webhook_delete"),
    path(
        "projects/<slug:slug>/webhooks/<int:pk>/deliveries/<int:delivery>/retry/",
        webhook_views.retry,
        name="webhook_retry",
    ),
    path("projects/<slug:slug>/views/", list_views.save_view, name="save_view"),
    path("projects/<slug:slug>/views/<int:pk>/delete/", list_views.delete_view, name="delete_view"),
    path("sign-in/", sign_in.SignIn.as_view(), name="sign_in"),
    path("sign-out/", LogoutView.as_view(), name="sign_out"),
    path("password/", views.password, name="password"),
    path("projects/new/", views.create_project, name="create"),
    path("tokens/", views.tokens, name="tokens"),
    path("tokens/<int:pk>/revoke/", views.revoke_token, name="revoke_token"),
]
# The two addresses of the identity provider's dance, and the names that allauth may look up on its way.
oidc_urls = []
if settings.OIDC_URL:
    oidc_urls = [
        path("sign-in/", include("allauth.socialaccount.providers.openid_connect.urls")),
        path("sign-in/", sign_in.SignIn.as_view(), name="account_login"),
        path("sign-in/", sign_in.SignIn.as_view(), name="socialaccount_login_cancelled"),
        path("sign-in/", sign_in.SignIn.as_view(), name="socialaccount_login_error"),
    ]
