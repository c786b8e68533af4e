"""Hostile, broken and slow servers: each costs its own source one line, and no other source anything.

`pytest -s Tests/EndToEnd/test_network_hostile.py` prints at its end what each server was answered.
"""

import base64
import concurrent.futures
import re
import signal
import subprocess

import pytest

from job import THUMBJOB
from network_run import ended_without_a_crash, environment, other_files, place, run
from servers import public
from servers.files import ServedFile
from servers.hostile import CASES, raw
from servers.listening import listener_on_all_of_loopback, refused_port
from servers.photos import large_photo, small_photo, without_comments
from servers.scripted import ScriptedServer
from waiting import eventually

# Most of the time, they wait for each other.
RUNS_AT_ONCE = 12
good_photo = ServedFile(small_photo(1))
# The rows of the table: what the server does, what became of its source, the line.
table = []


@pytest.fixture(scope="module", autouse=True)
def printed_table():
    yield
    print("\n\nserver | outcome | line\n--- | --- | ---")
    for row in table:
        print(" | ".join(row))


def note(server, result, url):
    """Adds a row to the table. Ports are left out, because they differ in each run."""
    outcome = result.failures[url]["kind"] if url in result.failures else "made"
    lines = " ⏎ ".join(result.lines_about(url))
    table.append((server, f"{outcome}, exit {result.status}, {result.seconds:.1f} s", without_ports(lines)))


def without_ports(line):
    return re.sub(r":\d{4,5}\b", ":PORT", line)


def one_line(result, url, *words):
    """The only line about a source, which has the words, and nothing that a terminal would obey."""
    assert ended_without_a_crash(result), result.stderr
    lines = result.lines_about(url)
    assert len(lines) == 1, result.stderr
    for word in words:
        assert re.search(word, lines[0]), lines[0]
    assert lines[0].isprintable()
    return lines[0]


@pytest.fixture(scope="module")
def runs(request, tmp_path_factory):
    """Starts the runs of all selected cases, several at a time. Each run has a hostile server and a good one."""
    selected = {item.callspec.params["case"].server for item in request.session.items
                if "case" in getattr(item, "callspec", item).__dict__.get("params", {})}
    cases = [case for case in CASES if case.server in selected]
    # Two threads that ask for the first folder of a process would make the folder above it twice.
    folders = {case.server: tmp_path_factory.mktemp("hostile") for case in cases}

    def run_of(case):
        with ScriptedServer(case.script) as hostile, ScriptedServer(good_photo) as good:
            url = hostile.url("/photo.jpg")
            return url, good.url("/good.jpg"), run(
                folders[case.server], url, good.url("/good.jpg"), *case.options)

    with concurrent.futures.ThreadPoolExecutor(RUNS_AT_ONCE) as pool:
        yield {case.server: pool.submit(run_of, case) for case in cases}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.server)
def test_a_hostile_server_costs_its_source_one_line(runs, case):
    url, good, result = runs[case.server].result()
    note(case.server, result, url)
    assert result.status == 1, result.stderr
    one_line(result, url, *case.words)
    assert len(result.lines) == 1, result.stderr
    assert result.failures[url]["kind"] == case.kind
    assert set(result.thumbnails) == {place(good)}
    assert "\x1b" not in result.stderr + result.stdout and "\x07" not in result.stderr + result.stdout
    assert not [name for name in other_files(result.out) if not name.startswith(".thumbjob/")]


# Addresses that are not public

LITERALS = ("127.0.0.1", "127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1", "0.0.0.0", "localhost", "[::1]", "[::]",
            "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]")


def test_an_address_that_is_not_public_is_never_connected_to(tmp_path):
    with ScriptedServer(good_photo, listener_on_all_of_loopback()) as server:
        urls = [server.url("/photo.jpg", host) for host in LITERALS]
        result = run(tmp_path, *urls, private=False)
        assert result.status == 1 and not result.thumbnails and server.accepted == 0, result.stderr
    for host, url in zip(LITERALS, urls, strict=True):
        note(f"URL with the host {host}", result, url)
    for line in result.lines:
        assert re.search(r"public|--allow-private|invalid|not a (valid )?(URL|host)", line), line
    assert len(result.lines) == len(urls), result.stderr


@pytest.fixture(scope="module")
def has_namespaces():
    if not public.is_possible():
        pytest.skip("`unshare --user --net` is not permitted here")


def test_a_redirect_of_a_public_server_leads_to_no_address_that_is_not_public(tmp_path, has_namespaces):
    targets = [f"http://{host}:8080/good.jpg" for host in (*LITERALS, *public.PRIVATE)]
    scripts = {f"/{index}.jpg": redirect_to(target) for index, target in enumerate(targets)}
    urls = [f"http://{public.PUBLIC}:8080{path}" for path in (*scripts, "/good.jpg")]

    def run_of(is_private):
        with public.receiver(tmp_path / f"socket {is_private}") as (prefix, listener), \
                concurrent.futures.ThreadPoolExecutor(1) as pool:
            running = pool.submit(
                run, tmp_path, *urls, "--retries", "0", prefix=prefix, private=is_private, out=f"private {is_private}")
            with ScriptedServer({**scripts, "/good.jpg": good_photo}, listener()) as server:
                return running.result(), server

    result, server = run_of(False)
    assert set(server.accepted_at) == {f"::ffff:{public.PUBLIC}"}, server.accepted_at
    assert result.status == 1 and set(result.thumbnails) == {place(urls[-1])}, result.stderr
    for target, url in zip(targets, urls, strict=False):
        note(f"public server redirects to {target.removesuffix(':8080/good.jpg')}", result, url)
        one_line(result, url, r"public|--allow-private|redirect")
    # The proof that those addresses have a server, and that nothing but their refusal kept thumbjob from it.
    reached = [index for index, target in enumerate(targets) if re.match(r"http://(\d|localhost)", target)]
    urls = [urls[index] for index in reached]
    result, server = run_of(True)
    assert set(result.thumbnails) == {place(url) for url in urls}, result.stderr
    assert {f"::ffff:{address}" for address in (*public.PRIVATE, "127.0.0.1")} <= set(server.accepted_at)


def redirect_to(target):
    return lambda exchange: exchange.answer(status="302 Found", Location=target)


def test_a_proxy_is_asked_for_no_address_that_is_not_public(tmp_path):
    target = "http://169.254.169.254/latest/meta-data/iam.jpg"
    scripts = {"http://9.9.9.9/good.jpg": good_photo, "http://9.9.9.9/bad.jpg": redirect_to(target), None: good_photo}
    with ScriptedServer(scripts) as proxy:
        urls = ["http://9.9.9.9/good.jpg", "http://9.9.9.9/bad.jpg", "http://10.0.0.1/direct.jpg"]
        result = run(tmp_path, *urls, private=False, http_proxy=proxy.url())
        assert result.status == 1, result.stderr
        assert {request.target for request in proxy.requests} == set(urls[:2])
    assert set(result.thumbnails) == {"9.9.9.9/good.jpg"}
    for url in urls[1:]:
        one_line(result, url, "public|--allow-private|redirect")


def found(*lines, status="302 Found"):
    """A redirect with these lines, as they are."""
    return raw("\r\n".join([f"HTTP/1.1 {status}", *lines, "Content-Length: 0", "", ""]).encode())


ODD_REDIRECTS = {
    **{f"status {status}": found("Location: http://169.254.169.254/x.jpg", status=f"{status} Odd")
       for status in (300, 303, 304, 305, 306, 307, 308, 399)},
    "the first of two": found("Location: http://169.254.169.254/x.jpg", "Location: http://9.9.9.9/good.jpg"),
    "the second of two": found("Location: http://9.9.9.9/good.jpg", "Location: http://169.254.169.254/x.jpg"),
    "the second, after an empty one": found("Location:", "Location: http://169.254.169.254/x.jpg"),
    "before a second status line": found("Location: http://169.254.169.254/x.jpg", "HTTP/1.1 200 OK: x"),
    "on two lines": found("Location: http://169.254.", " 169.254/x.jpg"),
    "on the second line": found("Location:", " http://169.254.169.254/x.jpg"),
    **{location: found(f"Location: {location}") for location in (
        "http:/169.254.169.254/x.jpg", "http:169.254.169.254/x.jpg", "http:///169.254.169.254/x.jpg",
        "//169.254.169.254/x.jpg", "///169.254.169.254/x.jpg", "\x0bhttp://169.254.169.254/x.jpg",
        " \t http://169.254.169.254/x.jpg", "HTTP://169.254.169.254/x.jpg", "http://169.254.169.254./x.jpg",
        "http://a b@169.254.169.254/x.jpg", "http://9.9.9.9@169.254.169.254/x.jpg", "http:\\\\169.254.169.254/x.jpg",
        "http://169.254.169.254#@9.9.9.9/x.jpg", "http://169.254.169.254?@9.9.9.9/x.jpg",
        "http://%31%36%39.254.169.254/x.jpg", "http://\uff11\uff16\uff19.254.169.254/x.jpg",
        "http://0xa9.0xfe.0xa9.0xfe/x.jpg", "http://2852039166/x.jpg", "http://[::ffff:169.254.169.254]/x.jpg",
        "http://169.254.169.254/a b \u00e9.jpg")},
}


def test_no_redirect_leads_a_proxy_to_an_address_that_is_not_public(tmp_path):
    odd = {f"http://9.9.9.9/{index}.jpg": script for index, script in enumerate(ODD_REDIRECTS.values())}
    scripts = {
        **odd, "http://9.9.9.9/hop.jpg": redirect_to("//9.9.9.8/next.jpg"),
        "http://9.9.9.8/next.jpg": redirect_to("//169.254.169.254/x.jpg"), None: good_photo}
    with ScriptedServer(scripts) as proxy:
        urls = [*odd, "http://9.9.9.9/hop.jpg"]
        result = run(tmp_path, *urls, "--retries", "0", private=False, http_proxy=proxy.url())
        asked = {request.target for request in proxy.requests}
    assert asked == {*urls, "http://9.9.9.8/next.jpg"}
    assert result.status == 1 and not result.thumbnails, result.stderr
    for name, url in zip([*ODD_REDIRECTS, "two redirects"], urls, strict=True):
        note(f"redirect, proxy: {name!r}", result, url)
        one_line(result, url, "public|redirect")


@pytest.mark.parametrize(("status", "words"), [
    ("403 Forbidden", r"proxy makes no connection \(status 403\)"),
    ("407 Proxy Authentication Required", r"proxy wants a login \(status 407\)")])
def test_a_proxy_that_refuses_is_named(tmp_path, status, words):
    with ScriptedServer(lambda exchange: exchange.answer(b"", status)) as proxy:
        url = "https://9.9.9.9/photo.jpg"
        result = run(tmp_path, url, private=False, https_proxy=proxy.url())
        assert len(proxy.requests) == 1, "it is not asked again"
    one_line(result, url, words)


# Hosts

def test_a_host_that_is_down_holds_up_no_others(tmp_path):
    with ScriptedServer(good_photo) as up, refused_port() as port:
        good = [up.url(f"/{index}.jpg") for index in range(30)]
        bad = [f"http://127.0.0.1:{port}/{index}.jpg" for index in range(30)]
        result = run(tmp_path, sources=[url for pair in zip(bad, good, strict=True) for url in pair])
    assert result.status == 1 and set(result.thumbnails) == {place(url) for url in good}, result.stderr
    for url in bad:
        one_line(result, url, "refused|connect|fail|down")
    note("refused port, 30 sources among 30 good ones", result, bad[0])
    note("the same host, its last source", result, bad[-1])
    assert result.seconds < 15


def test_a_thousand_hosts_are_one_job(tmp_path):
    with ScriptedServer(good_photo, listener_on_all_of_loopback()) as server:
        urls = [server.url("/photo.jpg", f"127.1.{index // 250}.{1 + index % 250}") for index in range(1000)]
        result = run(tmp_path, sources=urls)
        assert result.status == 0 and len(result.thumbnails) == 1000, result.stderr
        assert server.most_connections <= 16
    table.append(
        ("a thousand hosts", f"all made in {result.seconds:.1f} s", f"at most {server.most_connections} connections"))


def test_many_hosts_that_are_down_hold_up_a_good_one_for_seconds_only(tmp_path):
    with ScriptedServer(good_photo) as server, refused_port() as port:
        urls = [f"http://127.1.0.{1 + index}:{port}/photo.jpg" for index in range(20)]
        result = run(tmp_path, sources=[*urls, server.url("/good.jpg")])
    assert result.status == 1 and set(result.thumbnails) == {place(server.url("/good.jpg"))}, result.stderr
    assert len(result.lines) == len(urls)
    for url in urls:
        one_line(result, url, "refused|connect")
    assert result.seconds < 20
    note("20 hosts that are down", result, urls[0])


# Names

@pytest.mark.parametrize("path", [
    "/../../../../escape.jpg", "/%2e%2e/%2e%2e/%2e%2e/escape.jpg", "/..%2f..%2f..%2fescape.jpg", "/%2Fetc%2Fescape.jpg",
    "/a/./../../b.jpg", "/a%00b.jpg", "/.thumbjob/ledger", "/%2ethumbjob/settings", "//double//slash.jpg",
    "/a%0d%0aX-Injected:%20b.jpg",
    "/" + "long" * 200 + ".jpg", "/" + "d/" * 900 + "deep.jpg", "/" + "%F0%9F%93%B7" * 60 + ".jpg", "/a\\..\\..\\b.jpg",
    "/", "/?only=query", "/a.jpg#fragment", "/\x1b[31m.jpg", "/%1b[31m.jpg"])
def test_no_path_of_a_url_leads_out_of_its_hosts_folder(tmp_path, path):
    with ScriptedServer(good_photo) as server:
        result = run(tmp_path, sources=[server.url(path)])
        assert all("x-injected" not in request.headers for request in server.requests)
        host = f"127.0.0.1_{server.port}"
    assert ended_without_a_crash(result) and "\x1b" not in result.stderr + result.stdout, result.stderr
    assert {name.split("/")[0] for name in result.thumbnails} <= {host}
    assert len(result.thumbnails) + len(result.lines) == 1, result.stderr
    assert {entry.name for entry in tmp_path.iterdir()} <= {"thumbs", "thumbjob"}
    assert {entry.name for entry in result.out.iterdir()} <= {".thumbjob", host}
    assert not [name for name in other_files(result.out) if not name.startswith(".thumbjob/")]


@pytest.mark.parametrize("url", [
    "http://", "http:///photo.jpg", "http://[::1/photo.jpg", "http://127.0.0.1:99999/photo.jpg",
    "http://127.0.0.1:-1/p.jpg", "http://127.0.0.1:/p\0.jpg", "http://a b/photo.jpg", "http://user@/photo.jpg",
    "https://" + "a" * 70 + ".example/p.jpg", "http://127.0.0.1:80:80/p.jpg", "ftp://127.0.0.1/photo.jpg",
    "file:///etc/passwd", "http://\r\nHost: evil/p.jpg", "http://%31.0.0.1%00.example/p.jpg"])
def test_an_invalid_url_in_a_list_is_one_line_and_the_others_are_made(tmp_path, url):
    with ScriptedServer(good_photo) as server:
        listing = tmp_path / "list"
        listing.write_bytes(f"{url}\0{server.url('/good.jpg')}\0".encode())
        # A NUL within makes two sources of it.
        result = run(tmp_path, "--files0-from", listing, "--timeout", "5s")
        assert set(result.thumbnails) == {place(server.url("/good.jpg"))}, result.stderr
    assert ended_without_a_crash(result) and result.status in (1, 66)
    assert len(result.lines) == 1 + url.count("\0"), result.stderr
    assert all(line.isprintable() for line in result.lines)
    # Each URL is named once.
    assert all(line.count("://") <= 1 for line in result.lines), result.stderr
    table.append((f"a list with {url[:40]!r}", f"exit {result.status}", result.lines[0][:150]))


# Secrets

SECRETS = ("pa55word", "us3rname", "deadbeefsignature", "sessiontokenvalue")
SIGNED = "?X-Amz-Signature=deadbeefsignature&X-Amz-Security-Token=sessiontokenvalue&X-Amz-Expires=60"


class Secrets:
    """A job with a good, a missing, a redirected and an endless source, each with secrets in its URL."""

    def __init__(self, start, folder, server):
        self.server, self.folder = server, folder
        server.scripts = {
            f"/good.jpg{SIGNED}": good_photo,
            f"/moved.jpg{SIGNED}": redirect_to(
                f"http://us3rname:pa55word@127.0.0.1:{server.port}/gone.jpg{SIGNED}"),
            f"/held.jpg{SIGNED}": lambda exchange: ServedFile(large_photo(False)).held(exchange, 50_000),
        }
        listing = folder / "list"
        listing.write_bytes(b"".join(
            f"http://us3rname:pa55word@127.0.0.1:{server.port}/{name}.jpg{SIGNED}".encode() + b"\0"
            for name in ("good", "moved", "missing", "held")))
        self.trace = folder / "trace"
        self.job = start("--files0-from", listing, "--allow-private", "--json", "-v", "--trace", self.trace)

    def told(self):
        """All that the job tells until it ends, by the way on which it tells it."""
        job, told = self.job, {}
        eventually("all but one have ended", lambda: job.counters()["made"] == 1 and job.counters()["failed"] == 2)
        assert self.server.wait(lambda: self.server.sent[f"/held.jpg{SIGNED}"] >= 50_000)
        for path in ("/status", "/operations", "/operations?state=ended", "/metrics", "/"):
            told[path] = job.ask("GET", path).text
        told["status"] = asked_by_command(job, "status", str(job.process.pid))
        job.process.send_signal(signal.SIGUSR1)
        eventually("USR1 is answered", lambda: "fetching" in job.stderr)
        job.process.send_signal(signal.SIGUSR2)
        assert job.exit_status() in (1, 75), job.stderr
        told["report"] = asked_by_command(job, "report", job.thumbs)
        told["stdout"], told["stderr"] = job.stdout, job.stderr
        told["trace"] = self.trace.read_bytes().decode("latin-1")
        for path in job.thumbs.rglob("*"):
            told[f"the name {path.name}"] = path.name
            if path.is_file():
                told[f"the file {path.name}"] = path.read_bytes().decode("latin-1")
        return told


def asked_by_command(job, *arguments):
    result = subprocess.run(
        [THUMBJOB, *arguments], check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
        env=environment(job.folder))
    return result.stdout + result.stderr


def test_user_name_password_and_signature_appear_nowhere(start, tmp_path):
    with ScriptedServer({}) as server:
        told = Secrets(start, tmp_path, server).told()
        sent = base64.b64encode(b"us3rname:pa55word").decode()
        assert all(request.headers["authorization"] == f"Basic {sent}" for request in server.requests)
    found = [f"{secret} in {way}" for way, text in told.items() for secret in (*SECRETS, sent) if secret in text]
    assert found == []
    # The test reads what it is meant to read: the rest of the URL is there.
    for way in ("/status", "/operations", "status", "stdout", "stderr"):
        assert "held.jpg" in told[way], way
    for name in ("missing", "moved"):
        line, = (line for line in told["stderr"].splitlines() if re.match(f"thumbjob: http.*/{name}.jpg.*: ", line))
        table.append((f"credentials and signature, {name}", "failed", without_ports(line)))


@pytest.mark.parametrize("url", [
    "http://us3rname:pa55word@127.0.0.1:99999/a.jpg", "http://us3rname:pa55word@/a.jpg",
    "http://us3rname:pa55word@a b/",
    "http://127.0.0.1:99999/a.jpg" + SIGNED, "ftp://us3rname:pa55word@127.0.0.1/a.jpg" + SIGNED,
    "http://us3rname:pa55word@127.0.0.1:1/é.jpg" + SIGNED])
@pytest.mark.parametrize("way", ["list", "argument"])
def test_an_invalid_url_is_named_without_its_secrets(tmp_path, url, way):
    result = run(tmp_path, sources=[url]) if way == "list" else run(tmp_path, url)
    assert ended_without_a_crash(result) and result.status != 0
    told = result.stdout + result.stderr
    assert [secret for secret in SECRETS if secret in told] == [], told


def test_a_redirect_to_another_host_gets_no_credentials(tmp_path):
    with ScriptedServer(good_photo) as other:
        with ScriptedServer(redirect_to(other.url("/photo.jpg"))) as first:
            result = run(tmp_path, sources=[f"http://us3rname:pa55word@127.0.0.1:{first.port}/photo.jpg"])
            assert "authorization" in first.requests[0].headers
        assert result.status == 0, result.stderr
        assert "authorization" not in other.requests[0].headers
        assert not [value for value in other.requests[0].headers.values() if "pa55word" in value]


# Resuming

def test_a_range_that_does_not_fit_never_becomes_a_part_of_a_thumbnail(tmp_path):
    photo = large_photo(False)
    file = ServedFile(photo, tag="a")

    def shifted(exchange):
        if "range" not in exchange.request.headers:
            return file.broken_off(exchange, 500_000) if exchange.number == 1 else file(exchange)
        start = file.start(exchange.request.headers)
        given = f"bytes {start - 1000}-{len(photo) - 1}/{len(photo)}"
        exchange.answer(photo[start - 1000:], "206 Partial Content", ETag=file.tag, Content_Range=given)

    with ScriptedServer(shifted) as server:
        url = server.url("/photo.jpg")
        result = run(tmp_path, url)
        assert "range" in server.requests[1].headers
        note("206 of an earlier part after a reset", result, url)
    if place(url) in result.thumbnails:
        (tmp_path / "files").mkdir()
        (tmp_path / "files/photo.jpg").write_bytes(photo)
        whole = run(tmp_path, tmp_path / "files", out="of files").thumbnails["photo.jpg"]
        assert without_comments(result.thumbnails[place(url)]) == without_comments(whole)
    else:
        one_line(result, url, "206|range|another part")


def test_after_a_reset_in_the_body_only_the_rest_is_asked_for(tmp_path):
    file = ServedFile(large_photo(False), tag="a")

    def breaking_once(exchange):
        if exchange.number == 1:
            return file.broken_off(exchange, 900_000)
        file(exchange)

    with ScriptedServer(breaking_once) as server:
        url = server.url("/photo.jpg")
        result = run(tmp_path, url)
        assert result.status == 0 and result.lines == [], result.stderr
        _, second = server.requests
        start = int(re.fullmatch(r"bytes=(\d+)-", second.headers["range"])[1])
        assert 0 < start <= 900_000 and second.headers["if-range"] == file.tag
    table.append(
        ("reset in the body", f"made, exit 0, {result.seconds:.1f} s",
         f"no line; continued at byte {start:,} of {len(file.body):,}"))
