"""A store of answers in memory."""


class MemoryAnswers:
    def __init__(self):
        self.replies = {}

    def find(self, keys):
        return {key: self.replies[key] for key in keys if key in self.replies}

    def keep(self, replies, info):
        self.replies |= {key: reply for key, reply in replies.items() if not reply.failure}
