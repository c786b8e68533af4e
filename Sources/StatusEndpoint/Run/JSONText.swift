import Foundation

/// Encodes and decodes JSON bodies.
package enum JSONText {
  package static func encode(_ value: some Encodable) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Infinite or NaN numbers cannot be encoded; the answer is then null instead of a crash of the run.
    return (try? encoder.encode(value)) ?? Data("null".utf8)
  }

  static func decode<Value: Decodable>(_ type: Value.Type, from bytes: some Sequence<UInt8>) throws -> Value {
    try JSONDecoder().decode(type, from: Data(bytes))
  }
}
