import HTTPTypes

/// An answer that says what is wrong with a request, as RFC 9457 has it.
struct HTTPProblem: Error, Sendable {
  /// What is sent of it.
  struct Text: Codable, Sendable, Equatable {
    /// The status in words.
    let title: String
    let status: Int
    /// What is wrong, in a sentence.
    let detail: String
  }

  let status: HTTPResponse.Status
  let detail: String
  var headers = HTTPFields()

  init(_ status: HTTPResponse.Status, _ detail: String) { (self.status, self.detail) = (status, detail) }

  var answer: Answer {
    var answer = Answer.json(Text(title: status.reasonPhrase, status: status.code, detail: detail), status)
    answer.headers[.contentType] = "application/problem+json"
    for field in headers { answer.headers[field.name] = field.value }
    return answer
  }
}
