from foilworks.core import rooms


class CorpusConfig(rooms.AppOfRooms):
    name = "foilworks.core.corpus"
    verbose_name = "Videos, captions, items"
