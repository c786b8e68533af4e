/// What is sent to a server for a request.
struct RequestTarget: Sendable {
  let url: RemoteURL
  /// The lines that sign a request now.
  var signature: @Sendable (FetchRequest) throws(FetchError) -> [String] = { _ in [] }
  /// What an answer means, with the beginning of its text; nil if the store has done what was asked. Nil for a server that is
  /// no store.
  var refusal: (@Sendable (ReplyHeader, [UInt8]) -> FetchError?)?
}
