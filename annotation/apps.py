from foilworks.core.rooms import AppOfRooms


class AnnotationConfig(AppOfRooms):
    name = "annotation"
    verbose_name = "Editing, review, validation"
