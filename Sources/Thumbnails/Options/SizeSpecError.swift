/// Why a text is no thumbnail size. The description is one line with what is wrong and a size that would do.
public struct SizeSpecError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The text refused.
  public let text: String
  /// What is wrong with it.
  public let reason: String
  /// A text of the kind meant, that would be taken.
  public let example: String

  public var description: String { "size '\(text)': \(reason); for example \(example)" }
}
