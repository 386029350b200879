"""The settings of a project: name, rules of the work, archive, delete and restore."""

from datetime import timedelta

import pytest
from django.http import Http404
from django.urls import reverse
from django.utils import timezone

from annotation.actions.claims.claim import claim
from annotation.actions.settings.work_settings import rules_of, set_work_rules
from annotation.errors import AnnotationError
from annotation.models import Stage
from foilworks.core.corpus.models import Release
from foilworks.core.projects.access import get_project, visible_projects
from foilworks.core.projects.actions.lifecycle import delete_project, restore_project, set_archived
from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.errors import AccessDenied, NotAMember, ProjectError
from foilworks.core.projects.invitations import token_of
from foilworks.core.projects.models import AuditEvent, CrowdStudy, Invitation, Project
from foilworks.core.projects.tokens import find_token
from foilworks.site.publishing.models import PublicPage
from tests.factories import make_caption, make_item, make_member, make_project, make_subtest, make_task, make_video

pytestmark = pytest.mark.django_db
PAGE = "/projects/dots/settings/"
RULES = {"part": "rules", "leakage_scope": "video", "judge_caption_once": "on"}


@pytest.fixture
def project():
    return make_project(slug="dots", name="Dots")


@pytest.fixture
def owner(client, project):
    owner = make_member(project, "researcher", name="olga")
    client.force_login(owner)
    return owner


def open_pair(project):
    item = make_item(make_subtest(project), make_caption(make_video(project)))
    make_task(project, "validation", item.video, 2, item=item, foil=item.foils.get())
    return item


class TestNameAndRules:
    def test_a_researcher_renames_and_describes_the_project(self, client, project, owner):
        answer = client.post(PAGE, {"part": "about", "name": "Dots and lines", "description": "Moving dots."})
        assert answer["Location"] == PAGE
        project.refresh_from_db()
        assert (project.name, project.description, project.slug) == ("Dots and lines", "Moving dots.", "dots")
        event = AuditEvent.objects.get(action="projects.describe_project")

        assert event.details == {
            "before": {"name": "Dots", "description": ""},
            "name": "Dots and lines",
            "description": "Moving dots.",
        }

    def test_an_empty_name_is_refused_and_the_bar_keeps_the_old_one(self, client, owner):
        answer = client.post(PAGE, {"part": "about", "name": "", "description": ""})
        assert answer.status_code == 422
        assert '<span class="appbar-project">Dots</span>' in answer.content.decode()

    def test_the_rules_are_stored_with_what_they_were(self, client, project, owner):
        sent = {**RULES, "leakage_scope": "item", "lease_minutes": "10", "undo_seconds": "60"}
        assert client.post(PAGE, sent).status_code == 302
        project.refresh_from_db()
        assert (project.leakage_scope, project.lease_seconds, project.undo_seconds) == ("item", 600, 60)
        event = AuditEvent.objects.get(action="set_work_rules")
        assert event.details["before"]["lease_seconds"] == 1800

    @pytest.mark.parametrize(("field", "value"), [("lease_minutes", "0.1"), ("undo_seconds", "601")])
    def test_a_value_out_of_range_is_refused_at_its_field(self, client, owner, field, value):
        sent = {**RULES, "lease_minutes": "10", "undo_seconds": "60", field: value}
        answer = client.post(PAGE, sent)
        assert answer.status_code == 422
        assert answer.context["rules_form"].errors[field]

    def test_the_scope_is_fixed_once_somebody_has_seen_a_pair(self, client, project, owner):
        open_pair(project)
        assert claim(make_member(project, "validator"), project, Stage.VALIDATION)
        assert "already seen or judged a pair" in client.get(PAGE).content.decode()
        client.post(PAGE, {**RULES, "leakage_scope": "item", "lease_minutes": "10", "undo_seconds": "60"})
        project.refresh_from_db()
        assert (project.leakage_scope, project.lease_seconds) == ("video", 600)
        wanted = rules_of(Project(leakage_scope="item"))
        with pytest.raises(AnnotationError, match="already seen or judged"):
            set_work_rules(owner, project, wanted)

    def test_demo_accounts_change_nothing(self, client, project, owner):
        hint = {"accounts": [{"username": "olga", "role": "researcher", "password": "x"}]}
        Project.objects.filter(pk=project.pk).update(is_simulated=True, sign_in_hint=hint)
        assert "Demo accounts cannot change" in client.get(PAGE).content.decode()
        assert client.post(PAGE, {"part": "delete", "typed_name": "Dots"}).status_code == 403
        assert client.post(PAGE, {"part": "about", "name": "Mine"}).status_code == 403
        assert Project.objects.get().name == "Dots"

    def test_more_subtests_cost_no_more_queries(self, client, project, owner, django_assert_num_queries):
        for _ in range(3):
            make_subtest(project)
        client.get(PAGE)
        with django_assert_num_queries(10):
            client.get(PAGE)


class TestArchive:
    def test_nobody_gets_a_new_task_but_a_held_one_can_be_finished(self, client, project, owner):
        open_pair(project)
        first, second = make_member(project, "validator"), make_member(project, "validator")
        held = claim(first, project, Stage.VALIDATION)
        client.post(f"{PAGE}archive/", {"archived": "1"})
        project.refresh_from_db()
        assert claim(first, project, Stage.VALIDATION).token == held.token
        assert claim(second, project, Stage.VALIDATION) is None
        client.force_login(second)
        answer = client.get(reverse("annotation:queue", args=["dots", "validation"])).content.decode()
        assert "This project is archived, so nobody gets new tasks." in answer

    def test_the_home_page_lists_it_last_without_work(self, client, project, owner):
        open_pair(project)
        make_member(project, "validator")
        assert set_archived(owner, project, archived=True)
        page = client.get("/")
        assert page.context["cards"] == []
        assert [card.project for card in page.context["archived"]] == [project]
        assert "1 archived project" in page.content.decode()
        project.refresh_from_db()
        assert not set_archived(owner, project, archived=True)
        assert set_archived(owner, project, archived=False)
        assert client.get("/").context["archived"] == []
        actions = AuditEvent.objects.filter(project=project).order_by("pk").values_list("action", flat=True)
        assert list(actions) == ["projects.archive_project", "projects.unarchive_project"]

    def test_a_crowd_study_is_closed(self, client, project, owner):
        study = CrowdStudy.objects.create(
            project=project,
            key="k1",
            name="s",
            stage="validation",
            role="validator",
            platform="prolific",
            platform_study="st",
            places=3,
            pieces=1,
            minutes=10,
            completion_code="C",
            created_by=owner,
        )
        open_pair(project)
        sent = {"PROLIFIC_PID": "w", "STUDY_ID": "st", "SESSION_ID": "x"}
        set_archived(owner, project, archived=True)
        client.logout()
        assert "This study is closed" in client.get(f"/enter/{study.key}/", sent).content.decode()
        assert "This study is closed" in client.post(f"/enter/{study.key}/", sent).content.decode()


class TestDelete:
    def test_a_wrong_name_is_refused_at_its_field(self, client, project, owner):
        answer = client.post(PAGE, {"part": "delete", "typed_name": "dots"})
        assert answer.status_code == 422
        assert answer.context["delete_form"].errors["typed_name"]
        with pytest.raises(ProjectError, match="Enter it exactly"):
            delete_project(owner, project, "")

    def test_a_deleted_project_exists_for_nobody(self, client, project, owner):
        invitation = Invitation.objects.create(
            project=project, roles=["annotator"], created_by=owner, expires_at=timezone.now() + timedelta(days=1)
        )
        token = make_token(owner, name="t", scope="read", project=project, role="", days=1)
        root = make_member(make_project(), "annotator", is_superuser=True)
        assert client.post(PAGE, {"part": "delete", "typed_name": " Dots "})["Location"] == "/"
        project.refresh_from_db()
        for person in (owner, root):
            assert project not in visible_projects(person)
            with pytest.raises(Http404):
                get_project(person, "dots")
            with pytest.raises(NotAMember):
                claim(person, project, Stage.VALIDATION)
        assert find_token(token.secret) is None
        for address in (PAGE, "/projects/dots/", f"/join/{token_of(invitation)}/", "/projects/dots/place/"):
            assert client.get(address).status_code in {403, 404}
        assert "Dots" not in client.get("/account/").content.decode()

    def test_the_links_of_crowd_studies_and_public_pages_are_gone(self, client, project, owner):
        study = CrowdStudy.objects.create(
            project=project,
            key="k1",
            name="s",
            stage="validation",
            role="validator",
            platform="prolific",
            platform_study="st",
            places=3,
            pieces=1,
            minutes=10,
            completion_code="C",
            created_by=owner,
        )
        release = Release.objects.create(project=project, name="1.0", content_hash="0" * 64, n_items=0)
        public = PublicPage.objects.create(release=release, key="abc", is_open=True)
        assert client.get(reverse("publishing:public_release", args=[public.key])).status_code == 200
        delete_project(owner, project, "Dots")
        for address in (reverse("publishing:public_release", args=[public.key]), f"/enter/{study.key}/"):
            assert client.get(address).status_code == 404

    def test_its_researchers_restore_it_with_everything_for_a_week(self, client, project, owner):
        item = open_pair(project)
        other = make_member(project, "annotator")
        delete_project(owner, project, "Dots")
        page = client.get("/")
        assert [each.name for each in page.context["deleted"]] == ["Dots"]
        assert "Deleted, can be restored until" in page.content.decode()
        with pytest.raises(Http404):
            restore_project(other, "dots")
        answer = client.post("/projects/dots/restore/")
        assert answer["Location"] == "/projects/dots/"
        assert client.get("/projects/dots/").status_code == 200
        item.refresh_from_db()
        assert item.state == "in_validation"

    def test_after_a_week_nobody_restores_it(self, client, project, owner):
        delete_project(owner, project, "Dots")
        Project.objects.update(deleted_at=timezone.now() - timedelta(days=7, seconds=1))
        assert client.get("/").context["deleted"] == []
        assert client.post("/projects/dots/restore/").status_code == 404
        assert Project.objects.get().deleted_at is not None

    def test_others_may_not_delete_it(self, project):
        with pytest.raises(AccessDenied):
            delete_project(make_member(project, "reviewer"), project, "Dots")
