from foilworks.core.rooms import AppOfRooms


class ProjectsConfig(AppOfRooms):
    name = "foilworks.core.projects"
    verbose_name = "Projects and people"
