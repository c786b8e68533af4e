/// What is wrong with a word a person wrote, in one line fit to be shown to them.
public struct TextProblem: Error, Sendable, Equatable, CustomStringConvertible {
  public let description: String

  public init(_ description: String) {
    self.description = description
  }
}
