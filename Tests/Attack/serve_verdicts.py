"""The rules of the attack on the server: what may be wrong with the answers on a connection."""

import json
import re
from pathlib import Path

import runs
from serve_answers import AnswerError, answers_in, picture_in
from serve_cases import ANY
from serve_requests import UNSOUND, WHOLE, requests_in

DOCUMENT = Path(__file__).resolve().parent.parent.parent / "docs/serve.md"
_UNTOLD_END = "does not say that the connection ends"


def documented_statuses():
    """The statuses in the table of docs/serve.md."""
    rows = re.findall(r"^\| ([0-9]{3}(?:, [0-9]{3})*) \|", DOCUMENT.read_text(), re.MULTILINE)
    return {200} | {int(status) for row in rows for status in row.split(", ")}


def judged(case, transcript, statuses):
    """What is wrong, as labels and details."""
    whole, begun, state = requests_in(transcript.sent)
    requests = [*whole, begun] if begun else whole
    try:
        found, more = answers_in(transcript.received, [request.method for request in requests])
    except AnswerError as error:
        return [("no answer of HTTP", str(error))]
    answers = [answer for answer in found if answer.status >= 200]
    problems = []
    if transcript.is_late:
        problems.append(("hangs", f"{len(answers)} answers to {len(whole)} requests, {state}, {transcript.end}"))
    if transcript.probe is not None:
        problems.append(("does not serve on", transcript.probe))
    if more and not case.leaves:
        problems.append(("an answer is cut", f"{more} bytes"))
    if len(answers) < len(whole) + (state == UNSOUND) and not case.leaves and not transcript.is_late:
        problems.append(("no answer", f"{len(answers)} to {len(whole)} requests, {state}, {transcript.end}"))
    most = len(whole) + (state != WHOLE)
    if len(answers) > most:
        problems.append(("too many answers", f"{len(answers)} to {len(whole)} requests, {state}"))
    if transcript.is_cut and answers and not answers[-1].ends:
        problems.append((_UNTOLD_END, f"{answers[-1].status}: {answers[-1].body[:100]!r}"))
    continues = sum(answer.status == 100 for answer in found)
    if continues > sum(request.is_awaited for request in requests) and state != UNSOUND:
        problems.append(("100 without Expect", f"{continues}"))
    for number, answer in enumerate(answers[:most]):
        request = requests[number] if number < len(requests) else None
        wanted = case.wanted[number] if number < len(case.wanted) else ANY
        problems += _of_answer(answer, request, wanted, statuses, is_sound=number < len(whole))
    return problems


def _of_answer(answer, request, wanted, statuses, is_sound):
    if answer.status == 500:
        yield "status 500", f"{answer.body[:200]!r}"
    elif answer.status not in statuses:
        yield f"status {answer.status} is not documented", f"{answer.body[:100]!r}"
    elif wanted.statuses and answer.status not in wanted.statuses:
        yield f"another status than {', '.join(map(str, wanted.statuses))}", f"{answer.status}: {answer.body[:200]!r}"
    if is_sound:
        yield from _of_head(answer, request)
    elif answer.status == 200 and not (request and (request.has_codings or request.needs_no_body)):
        yield "200 for what is no whole request", f"{answer.body[:40]!r}"
    is_cut = answer.status == 400 and not is_sound and b"has not come whole" in answer.body
    if not answer.ends and (is_cut or answer.status == 408):
        yield _UNTOLD_END, f"{answer.status}: {answer.body[:100]!r}"
    if not is_sound and answer.status == 400 and not answer.body and answer.ends:
        return  # the parser of HTTP refuses some requests in its own words
    yield from _of_identity(answer, request)
    if answer.status == 405:
        allowed = answer.fields.get(b"allow")
        if allowed is None or (request and request.method in allowed.split(b", ")):
            yield "405 without the right Allow", f"{allowed} to {request and request.method}"
    if request and request.method == b"HEAD":
        return
    try:
        if answer.status != 200:
            yield from _of_error(answer)
        elif answer.fields.get(b"content-type") == b"application/json":
            json.loads(answer.body)
        else:
            yield from _of_preview(answer, wanted)
    except (AnswerError, ValueError) as error:
        yield "the body is wrong", f"{answer.status}: {error}"


def _of_head(answer, request):
    if not request.names_host and answer.status != 400:
        yield "no 400 without one Host field", f"{answer.status}: {request.values(b'host')}"
    is_other = request.expectation not in (None, b"100-continue")
    # Other faults of a head are found before an expectation.
    if is_other != (answer.status == 417) and answer.status not in (400, 403):
        yield "417 is for other expectations than 100-continue", f"{answer.status} to {request.expectation!r}"
    if request.is_last and not answer.ends:
        yield _UNTOLD_END, f"{answer.status} to {request}"


def _of_identity(answer, request):
    given = b", ".join(request.values(b"x-request-id")) if request else None
    back = answer.fields.get(b"x-request-id")
    if request is None or not request.values(b"x-request-id"):
        right = back is None or request is None
    elif re.fullmatch(rb"[!#-~]{1,128}", given):
        right = back == given
    else:
        right = back is not None and back.isdigit()
    if not right:
        yield "X-Request-ID", f"{given!r} comes back as {back!r}"


def _of_error(answer):
    told = json.loads(answer.body)
    if set(told) != {"message", "status"} or told["status"] != answer.status:
        yield "an error without message and status", f"{answer.body[:200]!r}"
    elif not told["message"].isprintable() or not told["message"]:
        yield "a message that is no printable line", f"{told['message'][:200]!r}"
    elif runs.Outcome("failed", told["message"], (), None).is_crash:
        yield "the decoder crashed", told["message"]
    if answer.status == 503 and b"retry-after" not in answer.fields:
        yield "503 without Retry-After", told["message"]


def _of_preview(answer, wanted):
    suffix, size = picture_in(answer.body)
    told = tuple(int(answer.fields.get(name, b"0")) for name in (b"image-width", b"image-height"))
    if told != size:
        yield "the size differs from Image-Width and Image-Height", f"{size}, not {told}"
    if answer.fields.get(b"content-type") != f"image/{suffix}".encode() or (wanted.type and wanted.type != suffix):
        yield "another type", f"{suffix}, said {answer.fields.get(b'content-type')!r}, wanted {wanted.type}"
    if wanted.box and not wanted.box.allows(size, wanted.picture):
        yield "another size", f"{size}, not {wanted.box} of {wanted.picture}"
