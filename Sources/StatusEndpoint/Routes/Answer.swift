import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore

/// What a route answers.
struct Answer: Sendable {
  enum Body: Sendable {
    case bytes(ByteBuffer)
    /// Events, until the client or the run ends.
    case events(EventListener)
  }

  var status: HTTPResponse.Status
  var headers: HTTPFields
  var body: Body

  init(_ status: HTTPResponse.Status = .ok, _ type: String, _ body: Body) {
    self.status = status
    self.body = body
    headers = [.contentType: type, .cacheControl: "no-store", .xContentTypeOptions: "nosniff"]
    // Nothing here may be shown or loaded by a page of another site.
    headers[.crossOriginResourcePolicy] = "same-origin"
  }

  static func json(_ value: some Encodable, _ status: HTTPResponse.Status = .ok) -> Answer {
    Answer(status, "application/json", .bytes(JSONText.encode(value)))
  }

  static func text(_ text: String, type: String) -> Answer { Answer(type, .bytes(ByteBuffer(string: text))) }
}

extension Answer {
  init(_ type: String, _ body: Body) { self.init(.ok, type, body) }
}

/// JSON as it is sent and read.
enum JSONText {
  static func encode(_ value: some Encodable) -> ByteBuffer {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // A number that is none would end the answer, and a run must not end for a view of it: null says that it is unknown.
    guard let data = try? encoder.encode(value) else { return ByteBuffer(string: "null") }
    return ByteBuffer(bytes: data)
  }

  static func decode<Value: Decodable>(_ type: Value.Type, from bytes: some Sequence<UInt8>) throws -> Value {
    try JSONDecoder().decode(type, from: Data(bytes))
  }
}

extension HTTPField.Name {
  static let crossOriginResourcePolicy = Self("Cross-Origin-Resource-Policy")!
}
