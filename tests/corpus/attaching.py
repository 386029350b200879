"""Attach one file to one clip, as `attach_folder` attaches all files of a folder."""

from pathlib import Path

from foilworks.core.corpus.actions.attach_media import attach_stored_media
from foilworks.core.corpus.actions.prepare_videos import prepare_later
from foilworks.core.corpus.models import Video
from foilworks.core.corpus.video_files.ingest import store_media
from foilworks.core.projects.models import User


def attach_media(person: User, video: Video, path: Path) -> Video:
    attached_video = attach_stored_media(person, video, store_media(path))
    prepare_later(video.project_id)
    return attached_video
