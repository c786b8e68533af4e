/// What a request asks for.
package enum PreviewCall: Sendable, Equatable {
  /// A preview of the picture in the body.
  case make(PreviewRequest)
  /// Size and type of the picture in the body, as JSON.
  case describe
  /// Whether the server works.
  case health
  /// The server's name and version.
  case version

  /// Whether the request has a picture.
  package var takesPicture: Bool {
    switch self {
    case .make, .describe: true
    case .health, .version: false
    }
  }
}
