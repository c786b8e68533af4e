"""Generates requests from the served /openapi.json, and checks the answers of the job against it."""

import openapi_spec_validator
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import checks

from job import SLOW
from waiting import eventually

# The same requests in every run.
FEW = settings(
    max_examples=15, derandomize=True, database=None, deadline=None, phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck))
CHECKED = [
    checks.not_a_server_error, checks.status_code_conformance, checks.content_type_conformance,
    checks.response_schema_conformance, checks.response_headers_conformance,
]


@pytest.fixture(scope="module")
def job(broken_picture, pictures, start_for_all):
    # Slow enough that the job outlasts the tests even if requests raise its limits.
    job = start_for_all(broken_picture, pictures, "--max", "1", "--size", "500", *SLOW)
    eventually("a source is made", lambda: job.counters()["made"])
    return job


@pytest.fixture(scope="module")
def api(job):
    schema = schemathesis.openapi.from_url(job.url + "/openapi.json")
    schema.config.update(base_url=job.url)
    return schema


def test_the_description_is_valid(job):
    openapi_spec_validator.validate(job.ask("GET", "/openapi.json").json())


# Separate tests cover the routes that end the job, never end, or change its limits.
most_routes = schemathesis.pytest.from_fixture("api").exclude(path=["/cancel", "/events", "/limits"])
limits = schemathesis.pytest.from_fixture("api").include(path="/limits")


@most_routes.parametrize()
@FEW
def test_every_answer_matches_the_description(case, job):
    answer = case.call(headers=job.authorization, timeout=45)
    case.validate_response(answer, checks=CHECKED)
    assert job.is_running


@pytest.fixture
def paused_job(job):
    before = job.status()["limits"]
    job.command("POST", "/pause")
    yield job
    job.command("PATCH", "/limits", json=before)
    job.command("POST", "/resume")


@limits.parametrize()
@FEW
def test_limits_accept_exactly_the_values_that_the_description_allows(case, paused_job):
    answer = case.call(headers=paused_job.authorization, timeout=45)
    case.validate_response(answer, checks=[*CHECKED, checks.negative_data_rejection, checks.positive_data_acceptance])


def every_operation(api, job):
    description = job.ask("GET", "/openapi.json").json()
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path.replace("{id}", "1"), operation["security"]


def test_routes_that_need_the_token_refuse_requests_without_it(api, job):
    guarded = [(method, path) for method, path, security in every_operation(api, job) if {} not in security]
    assert len(guarded) == 5
    for method, path in guarded:
        for headers in ({}, {"Authorization": "Bearer " + "0" * 64}):
            answer = job.ask(method, path, headers=headers)
            assert answer.status_code == 401, f"{method} {path}"
            template = path.replace("/1", "/{id}")
            api[template][method].validate_response(answer)
    assert job.status()["state"] in ("running", "paused")


def test_routes_that_need_no_token_answer_without_it(api, job):
    free = [(method, path) for method, path, security in every_operation(api, job) if {} in security]
    assert len(free) > 8
    for method, path in free:
        answer = job.ask(method, path, stream=True)
        answer.close()
        assert answer.status_code in (200, 404), f"{method} {path}"


def test_every_path_answers_head_and_refuses_other_methods(api, job):
    for path in {path for method, path, _ in every_operation(api, job) if method == "GET"}:
        assert job.ask("HEAD", path).content == b""
        answer = job.ask("PUT", path, headers=job.authorization)
        assert (answer.status_code, "GET" in answer.headers["Allow"]) == (405, True), path


def test_events_match_the_description(job):
    with job.ask("GET", "/events", stream=True) as answer:
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        names = set()
        for line in answer.iter_lines():
            names.update(line[7:].decode() for _ in [0] if line.startswith(b"event: "))
            if "counters" in names:
                return


# The last test, because it ends the job of all tests here.
def test_cancelling_all_matches_the_description_and_ends_the_job(api, job):
    answer = job.ask("POST", "/cancel", headers=job.authorization)
    assert answer.status_code == 202
    api["/cancel"]["POST"].validate_response(answer)
    assert job.exit_status() == 75
