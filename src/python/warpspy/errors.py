"""The exceptions of this module."""


class Error(Exception):
    """A command failed. The text is the program's error line.

    kind is one word (usage, input, io, memory, limit, unsupported, numeric, device, cancelled, internal); line is the
    command line; records are those that came before the error.
    """

    def __init__(self, text, kind=None, line=None, records=()):
        super().__init__(text)
        self.kind, self.line, self.records = kind, line, list(records)


class Cancelled(Error):
    """A command was cancelled."""


class Crashed(Error):
    """The program ended while a command ran. The next command starts a new session, without matrices."""


class Note(UserWarning):
    """A remark of the program, such as a file that deviates from its format."""
