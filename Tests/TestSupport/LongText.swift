/// An argument of a test: a text, of which the log has the beginning only. Swift Testing prints the arguments of each test
/// case, however long they are.
public struct LongText: Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  public let text: String

  public init(_ text: String) { self.text = text }

  public init(stringLiteral text: String) { self.init(text) }

  public var description: String {
    let most = 80
    return text.count <= most
      ? text.debugDescription : "\(String(text.prefix(most)).debugDescription)… (\(text.count) characters)"
  }
}
