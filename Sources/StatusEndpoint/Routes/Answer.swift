#if Endpoint
import HTTPTypes
import HummingbirdCore
import NIOCore

/// The answer of a route: status, headers and body.
struct Answer: Sendable {
  enum Body: Sendable {
    case bytes(ByteBuffer)
    /// The header of an answer of unknown length, for HEAD.
    case headOnly
    /// Events, until the client or the run ends; at the end of the run, also thumbnails if any are wanted.
    case events(EventListener, thumbnails: @Sendable () -> LatestThumbnails.Pictures?)
  }

  var status: HTTPResponse.Status
  var headers: HTTPFields
  var body: Body

  init(_ status: HTTPResponse.Status = .ok, _ type: String, _ body: Body) {
    self.status = status
    self.body = body
    headers = [.contentType: type, .cacheControl: "no-store", .xContentTypeOptions: "nosniff"]
    // Keeps pages of other sites from loading or showing an answer.
    headers[.crossOriginResourcePolicy] = "same-origin"
  }

  static func json(_ value: some Encodable, _ status: HTTPResponse.Status = .ok) -> Answer {
    Answer(status, "application/json", .bytes(ByteBuffer(bytes: JSONText.encode(value))))
  }

  static func text(_ text: String, type: String) -> Answer { Answer(type, .bytes(ByteBuffer(string: text))) }
}

extension Answer {
  init(_ type: String, _ body: Body) { self.init(.ok, type, body) }
}

extension HTTPField.Name {
  static let crossOriginResourcePolicy = Self("Cross-Origin-Resource-Policy")!
}
#endif
