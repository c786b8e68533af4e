"""A real nginx, started by a test without installing anything: its own folder and port, without root's rights."""

import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from servers.listening import loopback_listener
from waiting import eventually

# Debian has it in a folder that users do not have in PATH; the third is where the Makefile unpacks it.
NGINX = next(
    (found for found in map(shutil.which, ("nginx", "/usr/sbin/nginx", ".build/nginx/usr/sbin/nginx")) if found), None)

CONFIGURATION = """
daemon off;
worker_processes 1;
{user}
error_log {folder}/error.log notice;
pid {folder}/nginx.pid;
events {{ worker_connections 1000; }}
http {{
  types {{ image/jpeg jpg; text/html html; }}
  log_format told '$status|$request_uri|$http_range|$http_if_modified_since|$body_bytes_sent|$connection|$ssl_protocol';
  access_log {folder}/access.log told;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  absolute_redirect off;
  root {folder}/www;
  {http}
  server {{
    listen 127.0.0.1:{port}{parameters};
    {server}
  }}
}}
"""


@dataclass(frozen=True)
class Served:
    """A line of the access log."""

    status: int
    path: str
    range: str
    since: str
    body_bytes: int
    connection: str
    tls: str


class Nginx:
    """`server` is the inside of the server block, `http` comes before it; TLS uses an authority's certificate."""

    def __init__(self, folder, server="", http="", tls=None):
        self.folder = Path(folder)
        self.files = self.folder / "www"
        self.files.mkdir(parents=True)
        self.scheme = "https" if tls else "http"
        # nginx inherits the socket, so that no other program can take the port in between.
        self.listener = loopback_listener()
        self.port = self.listener.getsockname()[1]
        if tls:
            server += f"\nssl_certificate {tls.certificate};\nssl_certificate_key {tls.key};"
        self.configuration = self.folder / "nginx.conf"
        # Started by root, its worker would be a user who may not read the test's folder.
        user = "user root;" if os.geteuid() == 0 else ""
        self.configuration.write_text(
            CONFIGURATION.format(
                folder=self.folder, user=user, port=self.port, parameters=" ssl" if tls else "", http=http,
                server=server.replace("{port}", str(self.port))))
        self.process = None
        self.start()

    def start(self):
        descriptor = self.listener.fileno()
        self.process = subprocess.Popen(
            [NGINX, "-e", self.folder / "start.log", "-p", self.folder, "-c", self.configuration],
            env={**os.environ, "NGINX": f"{descriptor};"}, pass_fds=[descriptor],
            start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        eventually("nginx has started, or failed", lambda: self.process.poll() is not None or self._is_ready)
        assert self.process.poll() is None, self.errors

    @property
    def _is_ready(self):
        """It writes this file after it has read its configuration; the socket takes connections all the time."""
        file = self.folder / "nginx.pid"
        return file.exists() and file.read_text().strip() == str(self.process.pid)

    @property
    def errors(self):
        return "".join(path.read_text() for path in self.folder.glob("*.log") if path.name != "access.log")

    def url(self, path, host="127.0.0.1"):
        return f"{self.scheme}://{host}:{self.port}{path}"

    def kill(self):
        """Ends it at once, as a crash would: its connections break off."""
        os.killpg(self.process.pid, signal.SIGKILL)  # the worker, too
        self.process.wait()

    def close(self):
        self.process.terminate()
        self.process.wait(30)
        self.listener.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def served(self):
        """All requests so far that nginx has understood."""
        lines = (self.folder / "access.log").read_text().splitlines()
        fields = (line.split("|") for line in lines)
        return [
            Served(int(status), path, asked, since, int(count), connection, tls)
            for status, path, asked, since, count, connection, tls in fields if path]

    def served_once_there_are(self, count, since=0):
        """The requests after the first `since`, when there are so many: nginx writes its log after it has answered."""
        return eventually(
            f"nginx has served {count}", lambda: len(self.served()) >= since + count and self.served()[since:])
