"""Gets ready, then reads everything and says nothing."""

from talk import Conversation


class Silent(Conversation):
    def move(self) -> None:
        pass


Silent().run()
