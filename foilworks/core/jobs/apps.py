from foilworks.core import rooms


class JobsConfig(rooms.AppOfRooms):
    name = "foilworks.core.jobs"
    verbose_name = "Jobs"
