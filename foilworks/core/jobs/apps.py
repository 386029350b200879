from foilworks.core.rooms import AppOfRooms


class JobsConfig(AppOfRooms):
    name = "foilworks.core.jobs"
    verbose_name = "Jobs"
