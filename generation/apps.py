from foilworks.core import rooms


class GenerationConfig(rooms.AppOfRooms):
    name = "generation"
    verbose_name = "Making foils"
