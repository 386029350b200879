from foilworks.core.rooms import AppOfRooms


class GenerationConfig(AppOfRooms):
    name = "generation"
    verbose_name = "Making foils"
