"""Videos that a person would rather not see: a skip at a content warning."""

from django.db import models

from corpus.models import Video
from projects.models import User
from projects.personal_data import PersonalData


class DeclinedVideo(models.Model):
    """The person is offered nothing of this video any more, at any stage; nobody is told who declined what."""

    person = models.ForeignKey(User, models.CASCADE, related_name="declined_videos", db_index=False)
    video = models.ForeignKey(Video, models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    personal_data = PersonalData(own_row=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "video"], name="one_decline_a_video")]

    def __str__(self) -> str:
        return f"{self.person_id} declined {self.video_id}"
