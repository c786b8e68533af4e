/// The key that clients must know.
struct SecretKey: Sendable {
  let bytes: [UInt8]

  init(_ text: String) { bytes = Array(text.utf8) }

  /// Whether a text is the key. The time depends on the length of the text only.
  func matches(_ text: String) -> Bool { Self.areEqual(bytes, Array(text.utf8)) }

  /// Compares in a time that does not depend on where the bytes differ.
  static func areEqual(_ known: [UInt8], _ given: [UInt8]) -> Bool {
    guard !known.isEmpty else { return given.isEmpty }
    var difference = known.count ^ given.count
    for (index, byte) in given.enumerated() { difference |= Int(byte ^ known[index % known.count]) }
    return difference == 0
  }
}
