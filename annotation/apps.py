from foilworks.core import rooms


class AnnotationConfig(rooms.AppOfRooms):
    name = "annotation"
    verbose_name = "Editing, review, validation"
