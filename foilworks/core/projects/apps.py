from foilworks.core import rooms


class ProjectsConfig(rooms.AppOfRooms):
    name = "foilworks.core.projects"
    verbose_name = "Projects and people"
