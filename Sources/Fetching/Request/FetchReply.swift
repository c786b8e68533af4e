/// The answer of a server.
package struct FetchReply: Sendable {
  package enum Outcome: Sendable, Equatable {
    /// The whole source is in the file.
    case complete
    /// The file has as much as was needed.
    case enough
    /// The file has as much as was needed: these parts of a source of so many bytes. What is between them means nothing.
    case parts(RangeSet<Int>, of: Int)
    /// The source has not changed.
    case unchanged
  }

  package let outcome: Outcome
  package let validators: Validators
  /// What a store keeps with an object, by names in small letters.
  package var metadata: [String: String] = [:]
  /// The bytes that have come over the network, those of failed tries included.
  package let bytesReceived: Int
}
