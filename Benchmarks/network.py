"""network.py CORPUS THUMBJOB: sources over HTTP, from an nginx on loopback: two tables.

The first compares thumbjob over HTTP with thumbjob on the folder, and with `curl --parallel` into a folder for
vipsthumbnail, over COUNT names of the photographs (default 2,000): wall and processor time, the most memory of a
process, and bytes over the network as the server counts them. The second shows for photos/ and web/ how many bytes
each way to fetch reads, and how many the server has sent: on loopback, the buffers of the sockets take some megabytes
at once. CORPUS is that of `make corpus`. NGINX names the server.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CONFIGURATION = """
daemon off;
worker_processes 1;
user root;
error_log stderr crit;
pid {folder}/nginx.pid;
events {{ worker_connections 200; }}
http {{
  log_format told '$bytes_sent $connection';
  access_log {folder}/access.log told;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  root {root};
  server {{ listen 127.0.0.1:{port}; }}
}}
"""


class Server:
    """An nginx that serves a folder."""

    def __init__(self, work, root):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.log = work / "access.log"
        configuration = work / "nginx.conf"
        configuration.write_text(CONFIGURATION.format(folder=work, root=root, port=self.port))
        self.process = subprocess.Popen([nginx(), "-p", work, "-c", configuration], stderr=subprocess.DEVNULL)
        while socket.socket().connect_ex(("127.0.0.1", self.port)):
            time.sleep(0.01)

    def sent(self):
        """The bytes sent, and the connections used, since the last call."""
        time.sleep(0.2)  # the log is written after the last byte
        lines = [line.split() for line in self.log.read_text().splitlines()]
        self.log.write_text("")
        return sum(int(sent) for sent, _ in lines), len({connection for _, connection in lines})

    def stop(self):
        self.process.terminate()
        self.process.wait()


def nginx():
    return os.environ.get("NGINX") or shutil.which("nginx") or "/usr/sbin/nginx"


def measure(command, **options):
    """Runs a command: wall and processor seconds, and the most memory of one process in MiB."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command}: status {status}")
    return time.monotonic() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def row(name, figures, sent=None):
    wall, processor, memory = figures
    told = f"{sent[0] / 1e6:.1f} MB | {sent[1]}" if sent else "none | none"
    print(f"| {name} | {wall:.2f} s | {processor:.2f} s | {memory:.0f} MiB | {told} |", flush=True)


def main():
    corpus, thumbjob = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    count = int(os.environ.get("COUNT", "2000"))
    work = Path(tempfile.mkdtemp(prefix="thumbjob-network-"))
    photos = sorted((corpus / "photos").glob("*.jpg"))
    many = work / "root" / "many"
    many.mkdir(parents=True)
    for number in range(count):
        os.link(photos[number % len(photos)], many / f"{number:05}.jpg")
    for name in ("photos", "web"):
        shutil.copytree(corpus / name, work / "root" / name)
    server = Server(work, work / "root")
    try:
        base = f"http://127.0.0.1:{server.port}"
        urls = work / "urls"
        urls.write_text("".join(f"{base}/many/{number:05}.jpg\0" for number in range(count)))
        common = [thumbjob, "--max", "2", "--quiet", "--allow-private", "--status", "off"]
        print(f"| {count} photographs | wall | processor | memory of a process | received | connections |")
        print("| --- | ---: | ---: | ---: | ---: | ---: |")
        row("thumbjob, from the folder", measure([*common, many, "-o", work / "folder"]))
        for extent in ("exact", "sparing", "whole"):
            figures = measure(
                [*common, "--files0-from", urls, "--per-host", "4", "--fetch", extent, "-o", work / extent])
            row(f"thumbjob, from the server, `--fetch {extent}`", figures, server.sent())
        row("the same, up to date", measure([*common, "--files0-from", urls, "-o", work / "exact"]), server.sent())
        (work / "fetched").mkdir()
        listed = work / "curl"
        listed.write_text("".join(
            f'url = "{base}/many/{number:05}.jpg"\noutput = "{work}/fetched/{number:05}.jpg"\n'
            for number in range(count)))
        script = (
            f"curl --silent --parallel --parallel-max 4 --config '{listed}' && "
            f"find '{work}/fetched' -name '*.jpg' -print0 | "
            f"xargs -0 -n 50 -P 2 vipsthumbnail --size 256x256 -o '{work}/vips-%s.jpg[Q=80]'")
        figures = measure(["sh", "-c", script], env={**os.environ, "VIPS_CONCURRENCY": "1"})
        row("`curl --parallel`, then vipsthumbnail", figures, server.sent())
        print("\n| bytes read (and sent) at 256 pixels | whole | exact | sparing |\n| --- | ---: | ---: | ---: |")
        for name in ("web", "photos"):
            some = work / f"{name}.urls"
            some.write_text("".join(f"{base}/{name}/{photo.name}\0" for photo in (corpus / name).glob("*.jpg")))
            cells, whole = [], sum(photo.stat().st_size for photo in (corpus / name).glob("*.jpg"))
            for extent in ("whole", "exact", "sparing"):
                command = [*common, "--json", "--files0-from", some, "--fetch", extent, "-o", work / f"{name}-{extent}"]
                output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                read = json.loads(output.splitlines()[-1])["bytes_fetched"]
                cells.append(f"{read / 1e6:.1f} MB · {100 * read / whole:.0f} % ({server.sent()[0] / 1e6:.1f})")
            print(f"| {name} | {' | '.join(cells)} |")
    finally:
        server.stop()
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
