import Files

/// Why a request gets no preview.
package struct PreviewError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The HTTP status.
  package let status: Int
  /// One line for the client.
  package let message: String
  /// A word for metrics.
  package let reason: Reason
  /// The seconds after which the client may ask again; nil if that would change nothing.
  package var retryAfter: Int?

  package enum Reason: String, Sendable, CaseIterable {
    /// The request is wrong.
    case request
    /// The key or the signature is missing or wrong.
    case key
    /// No such route, or method.
    case route
    /// The picture is no picture, or one that cannot be read.
    case picture
    /// A limit is exceeded.
    case limit
    /// The time in which the server answers is over.
    case held
    /// Memory was short.
    case pressure
    /// A user has cancelled it, or the server ends.
    case cancelled
    /// The body did not come whole.
    case body
    /// The server is at fault.
    case server
  }

  /// The dialect of the request; nil if it has none, or was understood.
  package internal(set) var dialect: String?

  /// The methods of a route; nil if another one is not what is wrong.
  package private(set) var allowed: String?

  /// - Parameter message: may have text of the request, of which what cannot be printed is escaped.
  package init(_ status: Int, _ reason: Reason, _ message: String, retryAfter: Int? = nil) {
    (self.status, self.reason, self.retryAfter) = (status, reason, retryAfter)
    self.message = printableText(of: Array(message.utf8))
  }

  /// The route has other methods.
  static func wrongMethod(allowed: String, _ message: String) -> PreviewError {
    var error = PreviewError(405, .route, message)
    error.allowed = allowed
    return error
  }

  package var description: String { "\(status): \(message)" }

  static func badRequest(_ message: String) -> PreviewError { PreviewError(400, .request, message) }
}
