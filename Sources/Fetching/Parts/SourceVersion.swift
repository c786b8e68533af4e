/// The version of a source of which parts can be asked for.
struct SourceVersion: Sendable, Equatable {
  /// The value of `If-Range`: a server sends a part only if the source is still this one.
  let condition: String
  /// The bytes of the whole source.
  let total: Int
}

/// A part of a source that a request asks for.
struct AskedPart: Sendable, Equatable {
  let range: Range<Int>
  /// Nil for the first request, before anything is known of the source.
  let version: SourceVersion?

  /// The lines of the request.
  var header: [String] {
    ["Range: bytes=\(range.lowerBound)-\(range.upperBound - 1)"] + (version.map { ["If-Range: \($0.condition)"] } ?? [])
  }
}
