import Foundation

/// Finds the picture in a form that comes piece by piece.
///
/// It keeps the head of a part, and the end of a piece if a boundary may begin there.
///
/// *Source*: RFC 7578; RFC 2046, 5.1.1.
struct FormReader: Sendable {
  private enum State {
    /// Before the first boundary, or in a part that is not the picture.
    case passing
    /// After a boundary. The next two bytes say whether it is the last.
    case boundary
    case head
    case picture
    case done
  }

  /// The most bytes of the head of a part.
  private static let longestHead = 8 << 10
  private static let longestBoundary = 70

  /// With the line break before it.
  private let boundary: [UInt8]
  private let field: String?
  private var state = State.passing
  /// Bytes that are not judged yet.
  private var rest: [UInt8] = [0x0D, 0x0A]
  /// Whether the picture has been found.
  private(set) var hasPicture = false

  /// Whether the picture is complete.
  var isDone: Bool { state == .done }

  /// - Parameters:
  ///   - contentType: that of the request.
  ///   - field: the name of the field with the picture; nil for the first file.
  /// - Returns: nil if the body is no form.
  /// - Throws: ``PreviewError`` for a form without a valid boundary.
  init?(contentType: String?, field: String?) throws(PreviewError) {
    guard let contentType, contentType.lowercased().hasPrefix("multipart/") else { return nil }
    guard let boundary = Self.parameter("boundary", of: contentType),
      (1...Self.longestBoundary).contains(boundary.utf8.count)
    else { throw .badRequest("the form has no valid boundary") }
    self.boundary = Array("\r\n--\(boundary)".utf8)
    self.field = field
  }

  /// Takes a piece of the form.
  ///
  /// - Returns: the bytes of the picture in it.
  /// - Throws: ``PreviewError``.
  mutating func take(_ piece: [UInt8]) throws(PreviewError) -> [UInt8] {
    rest += piece
    var picture: [UInt8] = []
    while true {
      switch state {
      case .done:
        rest = []
        return picture
      case .passing, .picture:
        let end = find(boundary)
        let known = end ?? max(0, rest.count - boundary.count + 1)
        if state == .picture { picture += rest[..<known] }
        rest.removeFirst(end.map { $0 + boundary.count } ?? known)
        guard end != nil else { return picture }
        state = state == .picture ? .done : .boundary
      case .boundary:
        guard rest.count >= 2 else { return picture }
        guard !rest.starts(with: "--".utf8) else { throw Self.noPicture(field) }
        // Spaces may follow a boundary, up to the end of its line.
        guard let lineEnd = find([0x0D, 0x0A]) else {
          guard rest.count <= Self.longestHead else { throw .badRequest("the form is damaged") }
          return picture
        }
        rest.removeFirst(lineEnd)
        state = .head
      case .head:
        guard let end = find([0x0D, 0x0A, 0x0D, 0x0A]) else {
          guard rest.count <= Self.longestHead else { throw .badRequest("a part of the form has too long a head") }
          return picture
        }
        let head = String(decoding: rest[..<end], as: UTF8.self)
        if isPicture(head) {
          hasPicture = true
          state = .picture
          rest.removeFirst(end + 4)
          // An empty file: the line break of the boundary is that of the head.
          if rest.starts(with: boundary.dropFirst(2)) { throw .badRequest("the form has an empty file") }
        } else {
          state = .passing
          rest.removeFirst(end + 2)
        }
      }
    }
  }

  /// - Throws: ``PreviewError`` if the form has ended too early.
  func checkEnd() throws(PreviewError) {
    if !hasPicture { throw Self.noPicture(field) }
    if !isDone { throw PreviewError(400, .body, "the form ends before its last boundary") }
  }

  private static func noPicture(_ field: String?) -> PreviewError {
    .badRequest("the form has no \(field.map { "field \"\($0)\" with a file" } ?? "file")")
  }

  private func isPicture(_ head: String) -> Bool {
    for line in head.split(separator: "\r\n") where line.lowercased().hasPrefix("content-disposition:") {
      if let field { return Self.parameter("name", of: String(line)) == field }
      return Self.parameter("filename", of: String(line)) != nil || Self.parameter("name", of: String(line)) == "image"
    }
    return false
  }

  private func find(_ pattern: [UInt8]) -> Int? {
    rest.withUnsafeBytes { bytes -> Int? in
      guard let start = bytes.baseAddress else { return nil }
      var offset = 0
      while offset <= bytes.count - pattern.count,
        let first = memchr(start + offset, CInt(pattern[0]), bytes.count - pattern.count - offset + 1)
      {
        if memcmp(first, pattern, pattern.count) == 0 { return UnsafeRawPointer(first) - start }
        offset = UnsafeRawPointer(first) - start + 1
      }
      return nil
    }
  }

  /// The value of a parameter of a header field; nil if there is none.
  private static func parameter(_ name: String, of field: String) -> String? {
    for part in field.split(separator: ";").dropFirst() {
      let halves = part.split(separator: "=", maxSplits: 1)
      guard halves.count == 2, halves[0].filter({ $0 != " " }).lowercased() == name else { continue }
      let value = halves[1].drop { $0 == " " }
      guard value.first == "\"" else { return String(value.prefix { $0 != " " }) }
      return String(value.dropFirst().prefix { $0 != "\"" })
    }
    return nil
  }
}
