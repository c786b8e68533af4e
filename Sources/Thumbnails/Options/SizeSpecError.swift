/// Why a text is not a thumbnail size. The description is one line with the reason and a valid example.
public struct SizeSpecError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The invalid text.
  public let text: String
  /// The reason why it is invalid.
  public let reason: String
  /// A similar text that is valid.
  public let example: String

  public var description: String { "size “\(text)”: \(reason); for example \(example)" }
}
