"""Files as an honest server serves them: whole, in ranges, and not at all if they have not changed."""

import re
from email.utils import formatdate


class ServedFile:
    """A script for `ScriptedServer`. An entity tag, a time, both or neither identify the version of the file."""

    def __init__(self, body, tag=None, modified=None, ranges=True):
        self.body, self.ranges = body, ranges
        self.fields = {"Content_Type": "image/jpeg"}
        self.tag = tag and f'"{tag}"'
        self.modified = modified and formatdate(modified, usegmt=True)
        if self.tag:
            self.fields["ETag"] = self.tag
        if self.modified:
            self.fields["Last_Modified"] = self.modified

    def __call__(self, exchange):
        if self.is_known(exchange.request.headers):
            return exchange.answer(status="304 Not Modified", **self.fields)
        start = self.start(exchange.request.headers)
        if start:
            end = len(self.body)
            return exchange.answer(
                self.body[start:], "206 Partial Content", Content_Range=f"bytes {start}-{end - 1}/{end}", **self.fields)
        return exchange.answer(self.body, **self.fields)

    def is_known(self, headers):
        if "if-none-match" in headers:
            return self.tag is not None and self.tag in headers["if-none-match"]
        return self.modified is not None and headers.get("if-modified-since") == self.modified

    def start(self, headers):
        """The first byte that is asked for; 0 if it is the whole file."""
        asked = re.fullmatch(r"bytes=(\d+)-", headers.get("range", ""))
        if not (asked and self.ranges and headers.get("if-range") in (None, self.tag, self.modified)):
            return 0
        return int(asked[1])

    def broken_off(self, exchange, after):
        """Answers with the head of the whole file, sends this many bytes, and resets the connection."""
        exchange.head(Content_Length=len(self.body), Accept_Ranges="bytes", **self.fields)
        exchange.send(self.body[:after])
        exchange.reset()

    def held(self, exchange, after):
        """Answers with the head of the whole file, sends this many bytes, and waits until the client leaves."""
        exchange.head(Content_Length=len(self.body), **self.fields)
        exchange.send(self.body[:after])
        exchange.wait_until_left()
