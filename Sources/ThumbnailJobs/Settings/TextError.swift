/// A text that is not a valid value of a setting. The description is one line for the user.
public struct TextError: Error, Sendable, Equatable, CustomStringConvertible {
  public let description: String

  public init(_ description: String) {
    self.description = description
  }
}
