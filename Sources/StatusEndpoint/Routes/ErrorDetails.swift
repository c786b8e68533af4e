/// The JSON body of an error answer.
///
/// *Source*: RFC 9457, "Problem Details for HTTP APIs".
struct ErrorDetails: Codable, Sendable, Equatable {
  /// The HTTP status in words.
  let title: String
  let status: Int
  /// A sentence that says what is wrong.
  let detail: String
}
