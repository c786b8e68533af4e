import Foundation
import NIOCore

/// Encodes and decodes JSON bodies.
enum JSONText {
  static func encode(_ value: some Encodable) -> ByteBuffer {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Infinite or NaN numbers cannot be encoded; the answer is then null instead of a crash of the run.
    guard let data = try? encoder.encode(value) else { return ByteBuffer(string: "null") }
    return ByteBuffer(bytes: data)
  }

  static func decode<Value: Decodable>(_ type: Value.Type, from bytes: some Sequence<UInt8>) throws -> Value {
    try JSONDecoder().decode(type, from: Data(bytes))
  }
}
