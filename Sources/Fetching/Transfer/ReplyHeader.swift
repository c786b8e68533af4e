import Foundation

/// The header of a server's answer, line by line. A hostile server may send anything.
///
/// *Source*: RFC 9112 (the lines), RFC 9110 (the fields).
struct ReplyHeader {
  /// The most lines, and the most bytes in all.
  static let mostLines = 100, mostBytes = 64 << 10

  private(set) var status = 0
  private(set) var validators = Validators()
  /// The value of Content-Length; nil if there is none.
  private(set) var length: Int?
  /// The first byte, the byte after the last one, and the size of the whole in Content-Range.
  private(set) var range: (start: Int, end: Int, total: Int?)?
  /// The size of the whole, as a server tells it that has no such part (status 416).
  private(set) var wholeSize: Int?
  /// Whether the server says that it sends parts of a source.
  private(set) var acceptsRanges = false
  /// When the answer was made, by the server's clock, in seconds since 1970.
  private var date: Int?
  /// Encodings other than none.
  private(set) var encoding: String?
  /// In seconds.
  private(set) var retryAfter: Int?
  /// Where a redirect leads.
  private(set) var location: String?
  /// Whether it leads to several places, or to one that is continued on the next line. Versions of libcurl differ in which
  /// they follow.
  private var isAmbiguous = false
  /// Whether its first line was read, and its last one was not.
  private var isBegun = false
  /// Whether all lines of the last header were read. What precedes it, such as that of status 100, does not count.
  var isComplete: Bool { status >= 200 && !isBegun }
  /// Where S3 has the bucket.
  private(set) var bucketRegion: String?
  /// What a store keeps with the object, by names in small letters.
  private(set) var metadata: [String: String] = [:]
  private var lines = 0
  private var bytes = 0

  private static let metadataPrefix = "x-amz-meta-"

  /// What identifies the very bytes, so that parts of two versions are never mixed; nil if nothing does. A time does if it was
  /// long ago, because a source that changes twice within a second has one time.
  ///
  /// *Source*: RFC 9110, 8.8.2.2 and 13.1.5.
  var condition: String? {
    if validators.entityTag != nil { return validators.ofBytes }
    guard let modified = validators.lastModified, let date, date - modified >= 60 else { return nil }
    return HTTPDate.text(modified)
  }

  /// Whether libcurl follows it to another address.
  var isRedirect: Bool { (300...399).contains(status) && location != nil }

  /// Reads the next line. A status line begins a new header, as after a redirect.
  ///
  /// - Parameter now: the time, in seconds since 1970.
  /// - Returns: whether the header is complete.
  /// - Throws: ``FetchError/badReply(_:)``
  mutating func read(_ line: UnsafeBufferPointer<UInt8>, now: Int) throws(FetchError) -> Bool {
    lines += 1
    bytes += line.count
    guard lines <= Self.mostLines, bytes <= Self.mostBytes else { throw .badReply("its header is too long") }
    let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    // For libcurl, only the first line has the status.
    if !isBegun, text.hasPrefix("HTTP/") {
      // The lines of all headers count.
      let (lines, bytes) = (lines, bytes)
      self = ReplyHeader()
      (self.lines, self.bytes, isBegun) = (lines, bytes, true)
      let words = text.split(separator: " ")
      guard words.count > 1, let code = Int(words[1]), (100...999).contains(code) else {
        throw .badReply("its status is no number")
      }
      status = code
      return false
    }
    if text.isEmpty {
      isBegun = false
      if (300...399).contains(status), isAmbiguous { throw .badReply("its redirect is ambiguous") }
      return status >= 200
    }
    if let first = line.first, [UInt8(ascii: " "), UInt8(ascii: "\t")].contains(first) { isAmbiguous = true }
    guard let colon = text.firstIndex(of: ":") else { return false }
    let value = text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    try read(text[..<colon].lowercased(), value, now: now)
    return false
  }

  private mutating func read(_ name: String, _ value: String, now: Int) throws(FetchError) {
    switch name {
    case "content-length":
      guard let number = Self.number(value), length == nil || length == number else {
        throw .badReply("its length is not one number")
      }
      length = number
    case "content-range":
      range = Self.range(value)
      wholeSize = value.hasPrefix("bytes */") ? Self.number(String(value.dropFirst(8))) : nil
    case "accept-ranges": acceptsRanges = value.lowercased() == "bytes"
    case "date": date = HTTPDate.seconds(value)
    case "content-encoding":
      if !value.isEmpty, value.lowercased() != "identity" { encoding = FetchError.line(String(value.prefix(40))) }
    case "transfer-encoding":
      // libcurl would decompress it, although this was not asked for.
      let others = value.lowercased().split { ", ".contains($0) }.filter { $0 != "chunked" && $0 != "identity" }
      if let other = others.first { encoding = FetchError.line(String(other.prefix(40))) }
    case "etag": validators.entityTag = Validators.entityTag(value)
    case "last-modified": validators.lastModified = HTTPDate.seconds(value).flatMap { $0 <= now ? $0 : nil }
    case "retry-after": retryAfter = Self.number(value) ?? HTTPDate.seconds(value).map { max(0, $0 - now) }
    case "location" where !value.isEmpty:
      isAmbiguous = isAmbiguous || location.map { $0 != value } ?? false
      location = location ?? value
    case "x-amz-bucket-region": bucketRegion = value
    case _ where name.hasPrefix(Self.metadataPrefix):
      metadata[String(name.dropFirst(Self.metadataPrefix.count))] = value
    default: break
    }
  }

  private static func number(_ text: String) -> Int? {
    !text.isEmpty && text.utf8.count <= 18 && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
  }

  /// Reads `bytes 100-199/1000`; nil if it is none.
  private static func range(_ text: String) -> (start: Int, end: Int, total: Int?)? {
    guard text.hasPrefix("bytes ") else { return nil }
    let parts = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
    let ends = parts.first?.split(separator: "-", omittingEmptySubsequences: false) ?? []
    guard parts.count == 2, ends.count == 2, let start = number(String(ends[0])), let last = number(String(ends[1])),
      start <= last
    else { return nil }
    return (start, last + 1, number(String(parts[1])))
  }
}
