import Files
import Foundation
import SystemPackage
import Thumbnails

/// A source opened for reading: a regular file and what its first bytes are. Closed when released.
final class SourceFile {
  /// What a file is, as far as making thumbnails of it goes.
  enum Content: Equatable {
    case image(ImageType)
    /// Nothing that anybody would call a picture.
    case other
    /// Not an image, although its name or whoever named it says so.
    case notAnImage(ThumbnailError)
  }

  let descriptor: CInt
  /// Bytes.
  let size: Int
  /// When the contents last changed.
  let modified: timespec

  /// Opens a file, never a folder, FIFO or device, which would block or never end.
  ///
  /// - Throws: `ThumbnailError.unreadable`.
  init(_ path: Path) throws(ThumbnailError) {
    descriptor = path.withCString { open($0, O_RDONLY | O_NONBLOCK | O_CLOEXEC) }
    guard descriptor >= 0 else { throw .unreadable(errno) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw .unreadable(status.st_mode & S_IFMT == S_IFDIR ? EISDIR : EINVAL)
    }
    size = Int(status.st_size)
    modified = status.modified
  }

  deinit { close(descriptor) }

  var bytes: ByteSource { ByteSource(fileDescriptor: descriptor) }

  /// Looks at the first bytes.
  ///
  /// - Parameter source: whose name tells what was expected: a file that was named one by one, or is called a JPEG, is
  ///   expected to be an image.
  /// - Throws: `ThumbnailError.unreadable`.
  func content(of source: Source) throws(ThumbnailError) -> Content {
    var head = [UInt8](repeating: 0, count: ImageType.sniffLength)
    let count =
      switch head.withUnsafeMutableBytes({ bytes.read(at: 0, into: $0) }) {
      case .success(let count): count
      case .failure(let error): throw .unreadable(error.rawValue)
      }
    head.removeLast(head.count - count)
    if let type = ImageType.sniff(head) { return .image(type) }
    let isExpected = source.origin == .argument || OutputPlan.hasJPEGName(source.relativePath)
    guard isExpected, !head.starts(with: Self.appleDouble) else { return .other }
    return .notAnImage(head.isEmpty ? .empty : .notAnImage(Array(head.prefix(4))))
  }

  /// The side file `._photo.jpg` that macOS puts beside a photo on file systems without room for its attributes
  /// (RFC 1740): it has a picture's name and is none.
  private static let appleDouble: [UInt8] = [0x00, 0x05, 0x16, 0x07]
}
