"""The S3 of moto on loopback, and a client to look into it."""

import json
import multiprocessing
import os
from pathlib import Path

import boto3
from botocore.config import Config

from servers.listening import loopback_listener
from waiting import eventually

KEY, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"


# A process that has loaded moto, which takes seconds, forks for each S3.
_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["servers.s3", "servers.s3_service"])


def _serve(listener, folder):
    os.setsid()
    with (folder / "errors").open("w") as errors:
        os.dup2(errors.fileno(), 1)
        os.dup2(errors.fileno(), 2)
    # Imported in this process alone.
    from servers import s3_service

    s3_service.serve(listener, folder)


class S3:
    """`buckets` has the objects of each bucket: keys and the files of their contents."""

    def __init__(self, folder, buckets, **settings):
        self.folder = Path(folder)
        self.folder.mkdir()
        given = {"keys": {KEY: SECRET}, "buckets": buckets, **settings}
        (self.folder / "settings.json").write_text(json.dumps(given, default=str), encoding="utf-8")
        self.listener = loopback_listener()
        self.endpoint = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.process = _processes.Process(target=_serve, args=(self.listener, self.folder))
        self.process.start()
        eventually(
            "moto has started, or failed",
            lambda: not self.process.is_alive() or (self.folder / "ready").exists(), seconds=60)
        assert self.process.is_alive(), (self.folder / "errors").read_text()

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
        self.process.join(30)
        self.listener.close()
