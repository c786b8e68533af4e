"""The S3 of moto, in processes that `s3.S3` asks for. It checks every signature as Amazon does.

The first process only forks the others, because importing moto takes seconds.

moto's own check decodes the URL before it signs it again, so it refuses even requests of boto3 with a slash in a query.
This one signs the URL as it was sent, with the code of botocore.
"""

import contextlib
import hashlib
import io
import json
import os
import socket
import sys
import threading
import time
import traceback
from pathlib import Path

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from moto.core import DEFAULT_ACCOUNT_ID
from moto.s3.models import get_canned_acl, s3_backends
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

ERROR = '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>No.</Message></Error>'


class Handler(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *_arguments):
        pass


def variable(name):
    """The name of a header in the environment of WSGI."""
    own = name.upper().replace("-", "_")
    return own if own in ("CONTENT_TYPE", "CONTENT_LENGTH") else "HTTP_" + own


class Service:
    """`settings` has keys (id to secret), tokens (id to token), public (buckets), and faults (text in a request to
    refusals).

    While a file `hold` in the folder has a text that is in a request, the request waits.
    """

    def __init__(self, settings, log, folder):
        self.settings = settings
        self.hold, self.held = Path(folder) / "hold", Path(folder) / "held"
        self.log = log
        self.moto = DomainDispatcherApplication(create_backend_app)
        self.lock = threading.Lock()
        self.running = 0
        self.faults = {text: list(answers) for text, answers in settings.get("faults", {}).items()}

    def refusal(self, environ, target, body):
        """The status and the code of a refusal; nothing if the request is signed as it must be."""
        authorization = environ.get("HTTP_AUTHORIZATION")
        if authorization is None:
            bucket = target.split("?")[0].split("/")[1]
            return None if bucket in self.settings.get("public", []) else (403, "AccessDenied")
        fields = dict(part.strip().split("=", 1) for part in authorization.split(" ", 1)[1].split(","))
        key, _, region, service, _ = fields["Credential"].split("/")
        if key not in self.settings["keys"]:
            return 403, "InvalidAccessKeyId"
        token = environ.get("HTTP_X_AMZ_SECURITY_TOKEN")
        if self.settings.get("tokens", {}).get(key) != token:
            return 400, "InvalidToken"
        names = fields["SignedHeaders"].split(";")
        headers = {name: environ[variable(name)] for name in names}
        unsigned = [
            name for name in environ
            if name.startswith("HTTP_X_AMZ_") and name[5:].lower().replace("_", "-") not in headers]
        if unsigned or "host" not in headers or headers["x-amz-content-sha256"] != hashlib.sha256(body).hexdigest():
            return 403, "SignatureDoesNotMatch"
        request = AWSRequest(environ["REQUEST_METHOD"], f"http://{headers['host']}{target}", headers, body)
        request.context["timestamp"] = headers["x-amz-date"]
        auth = S3SigV4Auth(Credentials(key, self.settings["keys"][key], token), service, region)
        signature = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
        return None if signature == fields["Signature"] else (403, "SignatureDoesNotMatch")

    def fault(self, request):
        with self.lock:
            for text, answers in self.faults.items():
                if text in request and answers:
                    return answers.pop(0)
        return None

    def is_held(self, request):
        try:
            return self.hold.read_text() in request
        except FileNotFoundError:
            return False

    def await_release(self, request):
        if not self.is_held(request):
            return
        with self.lock, self.held.open("a") as file:
            file.write(f"{request}\n")
        while self.is_held(request):
            time.sleep(0.02)

    def __call__(self, environ, start_response):
        with self.lock:
            self.running += 1
            at_once = self.running
        try:
            return self.answer(environ, start_response, at_once)
        finally:
            with self.lock:
                self.running -= 1

    def answer(self, environ, start_response, at_once):
        target = environ["RAW_URI"]
        length = int(environ.get("CONTENT_LENGTH") or 0)
        body = environ["wsgi.input"].read(length)
        condition = " if-none-match" if "HTTP_IF_NONE_MATCH" in environ else ""
        request = f"{environ['REQUEST_METHOD']} {target}{condition}"
        self.await_release(request)
        answered = []

        def answer(status, headers, *arguments):
            answered.append(int(status.split()[0]))
            return start_response(status, headers, *arguments)

        refused = self.refusal(environ, target, body) or self.fault(request)
        if refused:
            text = ERROR.format(code=refused[1]).encode()
            headers = [("Content-Type", "application/xml"), ("Content-Length", str(len(text)))]
            headers += [("x-amz-bucket-region", refused[2])] if len(refused) > 2 else []
            answer(f"{refused[0]} No", headers)
            parts = [text] if environ["REQUEST_METHOD"] != "HEAD" else []
        else:
            environ["wsgi.input"] = io.BytesIO(body)
            parts = self.moto(environ, answer)
        names = ("HTTP_IF_MODIFIED_SINCE", "HTTP_IF_NONE_MATCH", "HTTP_RANGE", "HTTP_AUTHORIZATION")
        line = {
            "method": environ["REQUEST_METHOD"], "target": target, "status": answered[0], "at_once": at_once,
            **{name[5:].lower(): environ[name] for name in names if name in environ}}
        with self.lock:
            self.log.write(json.dumps(line) + "\n")
            self.log.flush()
        return parts


def serve(descriptor, folder):
    """Serves on a listening socket, with the settings that are in the folder."""
    with open(f"{folder}/settings.json", encoding="utf-8") as file:
        settings = json.load(file)
    backend = s3_backends[DEFAULT_ACCOUNT_ID]["aws"]
    for bucket, objects in settings["buckets"].items():
        backend.create_bucket(bucket, "us-east-1")
        for key, name in objects:
            with open(name, "rb") as file:
                backend.put_object(bucket, key, file.read())
            if bucket in settings.get("public", []):
                backend.put_object_acl(bucket, key, get_canned_acl("public-read"))
    with open(f"{folder}/requests", "a", encoding="utf-8") as log:
        server = make_server(
            "127.0.0.1", 0, Service(settings, log, folder), threaded=True, request_handler=Handler, fd=descriptor)
        with open(f"{folder}/ready", "w", encoding="utf-8"):
            pass
        server.serve_forever()


def main():
    """For each message, a folder with a listening socket and a file for errors, starts a service and answers its id."""
    asked = socket.socket(fileno=int(sys.argv[1]))
    while True:
        folder, (listener, errors) = _next(asked)
        # A service that has ended keeps its id until now, so that who asked for it learns that it has.
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        number = os.fork()
        if number == 0:
            try:
                asked.close()
                os.setsid()
                os.dup2(errors, 1)
                os.dup2(errors, 2)
                serve(listener, folder)
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(1)
        os.close(listener)
        os.close(errors)
        asked.send(str(number).encode())


def _next(asked):
    folder, descriptors, _, _ = socket.recv_fds(asked, 4096, 2)
    if not folder:
        sys.exit()  # those who ask have ended
    return os.fsdecode(folder), descriptors


if __name__ == "__main__":
    main()
