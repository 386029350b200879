from foilworks.core.rooms import AppOfRooms


class CorpusConfig(AppOfRooms):
    name = "foilworks.core.corpus"
    verbose_name = "Videos, captions, items"
