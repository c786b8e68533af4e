import Files
import Foundation

/// What every thumbnail carries: a comment of the JPEG format that says who made it, and under which settings.
///
/// By it a thumbnail is known from an original, which is never written over, and from one made under other settings. It
/// travels with the file, which times of change and extended attributes do not. It takes 29 bytes, says nothing about the
/// source, and is the same for all thumbnails of the same settings.
///
/// *Source*: ITU-T T.81, B.2.4.5 (comment); JFIF 1.02, which has its own segment come first.
public struct ThumbnailMark: Sendable, Hashable {
  private static let prefix = Array("thumbjob ".utf8)
  /// The markers of JPEG's first application segment, which is JFIF's, and of a comment.
  private static let app0: [UInt8] = [0xFF, 0xE0]
  private static let com: [UInt8] = [0xFF, 0xFE]
  /// SOI, JFIF's segment, and ours.
  private static let headSize = 20 + 4 + prefix.count + 16

  /// Of the settings: 16 hexadecimal digits.
  private let digits: [UInt8]

  /// - Parameter settings: all that decides the bytes of a thumbnail but its source, as one text.
  public init(settings: String) {
    // FNV-1a (Fowler, Noll, Vo): nobody gains by two settings that look the same.
    let hash = settings.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    let text = String(hash, radix: 16)
    digits = Array((String(repeating: "0", count: 16 - text.count) + text).utf8)
  }

  private init(digits: ArraySlice<UInt8>) { self.digits = Array(digits) }

  /// The JPEG with the mark in it, behind JFIF's segment.
  func inserted(into jpeg: UnsafeRawBufferPointer) -> [UInt8] {
    let end = Self.endOfJFIF(jpeg) ?? 2
    let size = 2 + Self.prefix.count + digits.count
    var marked: [UInt8] = []
    marked.reserveCapacity(jpeg.count + 2 + size)
    marked += jpeg[..<end]
    marked += Self.com + [UInt8(size >> 8), UInt8(size & 0xFF)] + Self.prefix + digits
    marked += jpeg[end...]
    return marked
  }

  /// The mark of the file at `path`; nil where there is none or no such file.
  init?(of path: Path, in folder: CInt) {
    let file = path.withCString { openat(folder, $0, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
    guard file >= 0 else { return nil }
    defer { close(file) }
    var head = [UInt8](repeating: 0, count: Self.headSize)
    let count = head.withUnsafeMutableBytes { try? readAll(into: $0, from: file) }
    guard count == Self.headSize, let end = head.withUnsafeBytes({ Self.endOfJFIF($0) }), end == 20,
      head[20...].starts(with: Self.com), head[24...].starts(with: Self.prefix)
    else { return nil }
    self.init(digits: head[(24 + Self.prefix.count)...])
  }

  private static func endOfJFIF(_ jpeg: UnsafeRawBufferPointer) -> Int? {
    guard jpeg.count > 6, jpeg[2...].starts(with: Self.app0) else { return nil }
    let end = 4 + (Int(jpeg[4]) << 8 | Int(jpeg[5]))
    return end <= jpeg.count ? end : nil
  }
}
