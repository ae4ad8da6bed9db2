"""Plays any free square; the argument is its seed."""

from talk import Conversation, argument

Conversation(argument(0)).run()
