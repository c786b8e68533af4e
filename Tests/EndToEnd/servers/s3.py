"""The S3 of moto on loopback, and a client to look into it."""

import functools
import json
import os
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path

import boto3
from botocore.config import Config

from servers.listening import loopback_listener
from waiting import eventually

KEY, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"


@functools.cache
def _parent():
    """A socket of the process that starts services. It ends with this one."""
    own, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with other:
        subprocess.Popen(
            [sys.executable, Path(__file__).parent / "s3_service.py", str(other.fileno())],
            pass_fds=[other.fileno()], stdin=subprocess.DEVNULL, start_new_session=True)
    own.settimeout(60)
    return own


class S3:
    """`buckets` has the objects of each bucket: keys and the files of their contents."""

    def __init__(self, folder, buckets, **settings):
        self.folder = Path(folder)
        self.folder.mkdir()
        given = {"keys": {KEY: SECRET}, "buckets": buckets, **settings}
        (self.folder / "settings.json").write_text(json.dumps(given, default=str), encoding="utf-8")
        self.listener = loopback_listener()
        self.endpoint = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        with (self.folder / "errors").open("w") as errors:
            socket.send_fds(_parent(), [os.fsencode(self.folder)], [self.listener.fileno(), errors.fileno()])
        self.process = os.pidfd_open(int(_parent().recv(32)))
        eventually(
            "moto has started, or failed", lambda: self._has_ended(0) or (self.folder / "ready").exists(), seconds=60)
        assert not self._has_ended(0), (self.folder / "errors").read_text()

    def _has_ended(self, seconds):
        return bool(select.select([self.process], [], [], seconds)[0])

    @property
    def variables(self):
        """The environment of a program that uses it."""
        return {
            "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_ENDPOINT_URL": self.endpoint,
            "TMPDIR": str(self.folder)}

    @property
    def client(self):
        return boto3.client(
            "s3", endpoint_url=self.endpoint, region_name="us-east-1", aws_access_key_id=KEY,
            aws_secret_access_key=SECRET, config=Config(s3={"addressing_style": "path"}))

    def requests(self):
        """What was asked so far."""
        file = self.folder / "requests"
        return [json.loads(line) for line in file.read_text().splitlines()]

    def hold(self, text):
        """Lets requests such as "GET /bucket/key" with this text wait, until `let_go`."""
        (self.folder / "hold.new").write_text(text)
        (self.folder / "hold.new").rename(self.folder / "hold")

    def held(self):
        """The requests that have waited so far."""
        file = self.folder / "held"
        return file.read_text().splitlines() if file.exists() else []

    def let_go(self):
        (self.folder / "hold").unlink()

    def close(self):
        signal.pidfd_send_signal(self.process, signal.SIGTERM)
        assert self._has_ended(30), "moto has not ended"
        os.close(self.process)
        self.listener.close()
