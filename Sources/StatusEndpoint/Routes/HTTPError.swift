#if Endpoint
import HTTPTypes

/// An error answer in the format of RFC 9457, "Problem Details for HTTP APIs".
struct HTTPError: Error, Sendable {
  let status: HTTPResponse.Status
  let detail: String
  var headers = HTTPFields()

  init(_ status: HTTPResponse.Status, _ detail: String) { (self.status, self.detail) = (status, detail) }

  var answer: Answer {
    var answer = Answer.json(ErrorDetails(title: status.reasonPhrase, status: status.code, detail: detail), status)
    answer.headers[.contentType] = "application/problem+json"
    for field in headers { answer.headers[field.name] = field.value }
    return answer
  }
}
#endif
