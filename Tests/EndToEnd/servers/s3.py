"""The S3 of moto on loopback, and a client to look into it."""

import json
import subprocess
import sys
from pathlib import Path

import boto3
from botocore.config import Config

from job import eventually
from servers.listening import loopback_listener

KEY, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"


class S3:
    """`buckets` has the objects of each bucket: keys and the files of their contents."""

    def __init__(self, folder, buckets, **settings):
        self.folder = Path(folder)
        self.folder.mkdir()
        given = {"keys": {KEY: SECRET}, "buckets": buckets, **settings}
        (self.folder / "settings.json").write_text(json.dumps(given, default=str), encoding="utf-8")
        self.listener = loopback_listener()
        self.endpoint = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        descriptor = self.listener.fileno()
        with (self.folder / "errors").open("w") as errors:
            self.process = subprocess.Popen(
                [sys.executable, Path(__file__).parent / "s3_service.py", str(descriptor), self.folder],
                pass_fds=[descriptor], stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, start_new_session=True)
        eventually(
            "moto has started, or failed",
            lambda: self.process.poll() is not None or (self.folder / "ready").exists(), seconds=60)
        assert self.process.poll() is None, (self.folder / "errors").read_text()

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
        self.process.terminate()
        self.process.wait(30)
        self.listener.close()
