"""Members. Work: the queues of a person, one page a stage, and what those pages send."""

from django.urls import path

from annotation.views.activity import own, pay, people_figures, people_figures_file
from annotation.views.adjudication import disputed, disputed_item, old_address
from annotation.views.baseline import baseline
from annotation.views.crowd import crowd, crowd_study, crowd_study_move
from annotation.views.crowd_entry import enter, place
from annotation.views.edit import edit, hint
from annotation.views.guidelines import guideline, guidelines, preview
from annotation.views.lease import decline, draft, heartbeat, skip
from annotation.views.leaving import leave, own_data
from annotation.views.object_check import object_check
from annotation.views.objects import frame_image, objects
from annotation.views.people import member_remove, member_roles, people
from annotation.views.quality import add_practice, gold, label, quality, withdraw
from annotation.views.queue import queue, work
from annotation.views.quizzes import attempt, practice, qualification, question
from annotation.views.repair import repair, repairs
from annotation.views.review import review
from annotation.views.review_sampling import review_shares
from annotation.views.studies import caption_objects, studies
from annotation.views.takedown import takedown
from annotation.views.undo import undo
from annotation.views.validation import validation
from annotation.views.validators import validator_move, validators
from annotation.views.vote_rule import vote_rule

crowd_urls = [
    path("enter/<slug:key>/", enter, name="enter"),
    path("account/data.json", own_data, name="own_data"),
    path("projects/<slug:slug>/crowd/", crowd, name="crowd"),
    path("projects/<slug:slug>/crowd/<int:pk>/", crowd_study, name="crowd_study"),
    path("projects/<slug:slug>/crowd/<int:pk>/<slug:move>/", crowd_study_move, name="crowd_study_move"),
    path("projects/<slug:slug>/place/", place, name="place"),
    path("projects/<slug:slug>/leave/", leave, name="leave"),
]


app_name = "annotation"
urlpatterns = [
    *crowd_urls,
    path("projects/<slug:slug>/people/", people, name="people"),
    path("projects/<slug:slug>/people/<int:pk>/roles/", member_roles, name="member_roles"),
    path("projects/<slug:slug>/people/<int:pk>/remove/", member_remove, name="member_remove"),
    path("projects/<slug:slug>/people/figures/", people_figures, name="people_figures"),
    path("projects/<slug:slug>/people/figures.csv", people_figures_file, name="people_figures_file"),
    path("projects/<slug:slug>/people/pay/", pay, name="people_pay"),
    path("projects/<slug:slug>/disputed/", disputed, name="disputed_items"),
    path("projects/<slug:slug>/disputed/<int:pk>/", disputed_item, name="disputed_item"),
    path("projects/<slug:slug>/splits/", old_address, name="splits"),
    path("projects/<slug:slug>/splits/<int:pk>/", old_address, name="split"),
    path("projects/<slug:slug>/captions/doubted/", repairs, name="repairs"),
    path("projects/<slug:slug>/captions/doubted/<int:pk>/", repair, name="repair"),
    path("projects/<slug:slug>/reviewing/", review_shares, name="people_reviewing"),
    path("projects/<slug:slug>/videos/<int:pk>/takedown/", takedown, name="takedown"),
    path("projects/<slug:slug>/subtests/<int:pk>/votes/", vote_rule, name="vote_rule"),
    path("projects/<slug:slug>/guidelines/", guidelines, name="guidelines"),
    path("projects/<slug:slug>/guidelines/preview/", preview, name="guideline_preview"),
    path("projects/<slug:slug>/guidelines/<slug:stage>/", guideline, name="guideline"),
    path("projects/<slug:slug>/guidelines/<slug:stage>/<int:subtest>/", guideline, name="subtest_guideline"),
    path("projects/<slug:slug>/studies/", studies, name="studies"),
    path("projects/<slug:slug>/studies/captions/", caption_objects, name="caption_objects"),
    path("projects/<slug:slug>/studies/objects/<int:pk>/", object_check, name="object_check"),
    path("projects/<slug:slug>/studies/frames/<int:pk>/", frame_image, name="frame_image"),
    path("projects/<slug:slug>/validators/", validators, name="validators"),
    path("projects/<slug:slug>/validators/<int:pk>/<slug:move>/", validator_move, name="validator_move"),
    path("projects/<slug:slug>/quality/", quality, name="quality"),
    path("projects/<slug:slug>/quality/label/", label, name="label"),
    path("projects/<slug:slug>/quality/practice/add/", add_practice, name="add_practice"),
    path("projects/<slug:slug>/quality/withdraw/<slug:kind>/<int:pk>/", withdraw, name="withdraw"),
    path("projects/<slug:slug>/quality/gold/<slug:use>/", gold, name="gold"),
    path("projects/<slug:slug>/practice/", practice, name="practice"),
    path("projects/<slug:slug>/qualification/", qualification, name="qualification"),
    path("projects/<slug:slug>/exercise/<int:pk>/", attempt, name="attempt"),
    path("projects/<slug:slug>/exercise/<int:pk>/<int:place>/", question, name="question"),
    path("projects/<slug:slug>/work/", work, name="work"),
    path("projects/<slug:slug>/work/figures/", own, name="own_figures"),
    path("projects/<slug:slug>/work/<slug:stage>/", queue, name="queue"),
    path("projects/<slug:slug>/work/edit/<slug:token>/", edit, name="edit"),
    path("projects/<slug:slug>/work/review/<slug:token>/", review, name="review"),
    path("projects/<slug:slug>/work/validation/<slug:token>/", validation, name="validation"),
    path("projects/<slug:slug>/work/baseline/<slug:token>/", baseline, name="baseline"),
    path("projects/<slug:slug>/work/objects/<slug:token>/", objects, name="objects"),
    path("projects/<slug:slug>/work/lease/<slug:token>/heartbeat/", heartbeat, name="heartbeat"),
    path("projects/<slug:slug>/work/lease/<slug:token>/draft/", draft, name="draft"),
    path("projects/<slug:slug>/work/lease/<slug:token>/skip/", skip, name="skip"),
    path("projects/<slug:slug>/work/lease/<slug:token>/decline/", decline, name="decline"),
    path("projects/<slug:slug>/work/lease/<slug:token>/hint/", hint, name="hint"),
    path("projects/<slug:slug>/work/undo/<slug:kind>/<int:pk>/", undo, name="undo"),
]
