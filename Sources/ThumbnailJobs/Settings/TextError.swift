/// A text of a user that is not a valid value. The description is one line that can be shown to the user.
public struct TextError: Error, Sendable, Equatable, CustomStringConvertible {
  public let description: String

  public init(_ description: String) {
    self.description = description
  }
}
