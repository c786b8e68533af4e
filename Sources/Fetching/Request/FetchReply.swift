/// The answer of a server.
public struct FetchReply: Sendable {
  public enum Outcome: Sendable, Equatable {
    /// The whole source is in the file.
    case complete
    /// The file has as much as was needed.
    case enough
    /// The file has as much as was needed: these parts of a source of so many bytes. What is between them means nothing.
    case parts(RangeSet<Int>, of: Int)
    /// The source has not changed.
    case unchanged
  }

  public let outcome: Outcome
  public let validators: Validators
  /// What a store keeps with an object, by names in small letters.
  public var metadata: [String: String] = [:]
  /// The bytes that have come over the network, those of failed tries included.
  public let bytesReceived: Int
}
