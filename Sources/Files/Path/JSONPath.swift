import Foundation

/// A path in JSON: its text, or, if it is not UTF-8, an object with its repaired text and its bytes in base64. The path
/// can always be read back.
public struct JSONPath: Codable, Sendable, Hashable {
  public let path: Path

  private enum Keys: String, CodingKey { case text, bytes }

  public init(_ path: Path) { self.path = path }

  public func encode(to encoder: any Encoder) throws {
    let (text, isRepaired) = path.jsonText
    guard isRepaired else {
      var container = encoder.singleValueContainer()
      return try container.encode(text)
    }
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode(text, forKey: .text)
    try container.encode(Data(path.bytes).base64EncodedString(), forKey: .bytes)
  }

  public init(from decoder: any Decoder) throws {
    let bytes: [UInt8]
    if let container = try? decoder.container(keyedBy: Keys.self) {
      bytes = Array(try container.decode(Data.self, forKey: .bytes))
    } else {
      bytes = Array(try decoder.singleValueContainer().decode(String.self).utf8)
    }
    guard let path = Path(bytes: bytes) else {
      throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "a path has no NUL"))
    }
    self.path = path
  }
}
