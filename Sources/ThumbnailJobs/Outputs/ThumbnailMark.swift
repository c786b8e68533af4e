import Files
import Foundation
import Thumbnails

/// The JPEG comment that every thumbnail has. It names thumbjob and identifies the settings.
///
/// The mark distinguishes a thumbnail from an original, which is never overwritten, and from a thumbnail with other
/// settings. Unlike extended attributes, it stays in the file when the file is copied. It takes 29 bytes, is the same
/// for all thumbnails with the same settings, and reveals nothing about the source.
///
/// *Source*: ITU-T T.81, B.2.4.5 (comment); JFIF 1.02, whose own segment must come first.
public struct ThumbnailMark: Sendable, Hashable {
  private static let prefix = Array("thumbjob ".utf8)
  /// The bytes of SOI, the JFIF segment and the mark.
  private static let headSize = 20 + 4 + prefix.count + 16

  /// The hash of the settings in 16 hexadecimal digits.
  private let digits: [UInt8]

  /// - Parameter settings: everything except the source that determines the bytes of a thumbnail, as one text.
  public init(settings: String) {
    // FNV-1a (Fowler, Noll, Vo). The hash need not be cryptographic, because an attacker gains nothing from a
    // collision.
    let hash = settings.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    let text = String(hash, radix: 16)
    digits = Array((String(repeating: "0", count: 16 - text.count) + text).utf8)
  }

  private init(digits: ArraySlice<UInt8>) { self.digits = Array(digits) }

  /// The JPEG with the mark after its JFIF segment.
  func inserted(into jpeg: UnsafeRawBufferPointer) -> [UInt8] {
    let end = Self.endOfJFIF(jpeg) ?? 2
    let size = 2 + Self.prefix.count + digits.count
    var marked: [UInt8] = []
    marked.reserveCapacity(jpeg.count + 2 + size)
    marked += jpeg[..<end]
    marked += JPEGMarker.com.bytes + [UInt8(size >> 8), UInt8(size & 0xFF)] + Self.prefix + digits
    marked += jpeg[end...]
    return marked
  }

  /// Reads the mark of the file at `path`; nil if the file has none or cannot be read.
  init?(of path: Path, in folder: CInt) {
    let file = path.withCString { openat(folder, $0, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
    guard file >= 0 else { return nil }
    defer { close(file) }
    var head = [UInt8](repeating: 0, count: Self.headSize)
    let count = head.withUnsafeMutableBytes { try? readAll(into: $0, from: file) }
    guard count == Self.headSize, let end = head.withUnsafeBytes({ Self.endOfJFIF($0) }), end == 20,
      head[20...].starts(with: JPEGMarker.com.bytes), head[24...].starts(with: Self.prefix)
    else { return nil }
    self.init(digits: head[(24 + Self.prefix.count)...])
  }

  private static func endOfJFIF(_ jpeg: UnsafeRawBufferPointer) -> Int? {
    guard jpeg.count > 6, jpeg[2...].starts(with: JPEGMarker.app0.bytes) else { return nil }
    let end = 4 + (Int(jpeg[4]) << 8 | Int(jpeg[5]))
    return end <= jpeg.count ? end : nil
  }
}
