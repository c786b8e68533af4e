import Files
import Foundation
import Marks
import Pictures
import Sandbox
import Thumbnails

/// An open source: a regular file. It is closed when the object is released.
package final class SourceFile {
  /// The type of a file by its first bytes.
  package enum Content: Equatable {
    case image(ImageType)
    /// A thumbnail that thumbjob has made.
    case thumbnail
    /// Not an image, and not expected to be one.
    case other(format: OtherFormat?)
    /// Not an image, although it has the name of one or is itself an argument.
    case notAnImage(ThumbnailError)
  }

  /// What distinguishes a file from an earlier one of the same name.
  package struct Version: Sendable {
    package let bytes: Int
    package let modified: timespec
    /// Nil for a source from the network, whose server tells whether it has changed.
    package let state: FileState?

    package init(bytes: Int, modified: timespec, state: FileState?) {
      (self.bytes, self.modified, self.state) = (bytes, modified, state)
    }
  }

  package let descriptor: CInt
  /// The size in bytes.
  package let size: Int
  /// The time of the last change of the contents.
  package let modified: timespec
  /// Nil for a source from the network, whose file has no name and never changes.
  private let path: Path?
  private let identity: FileIdentity
  /// Its status time when it was opened. Every change of the contents, of the names or of the mode sets it.
  private let changed: timespec
  private let state: FileState?
  private var knownContents: SourceContents?
  /// What is there of a source of which only parts were fetched; nil if all is.
  private let parts: PartialBytes?
  /// Whether the rest of the source was not fetched.
  package let isCut: Bool
  /// Whether the file lacks the last bit of its picture on purpose.
  package let lacksLastBit: Bool
  package let owner: PictureOwner

  /// Opens a regular file. Other kinds are refused, because a FIFO or a device could block or never end.
  ///
  /// - Throws: `ThumbnailError.unreadable`.
  package init(_ path: Path) throws(ThumbnailError) {
    do throws(Errno) { descriptor = try openToRead(path) } catch { throw .unreadable(error.rawValue) }
    var status = stat()
    let error =
      fstat(descriptor, &status) != 0 ? errno : status.kind == .regular ? 0 : status.kind == .folder ? EISDIR : EINVAL
    if error != 0 {
      close(descriptor)
      throw .unreadable(error)
    }
    size = Int(status.st_size)
    modified = status.modified
    (changed, state) = (status.changed, FileState(status))
    (isCut, lacksLastBit, parts) = (false, false, nil)
    self.path = path
    identity = FileIdentity(status)
    owner = .user(status.st_uid)
  }

  /// A source that was fetched from the network.
  ///
  /// - Throws: `ThumbnailError.unreadable`.
  package init(_ fetched: FetchedFile) throws(ThumbnailError) {
    let descriptor = fcntl(fetched.file.descriptor, F_DUPFD_CLOEXEC, 0)
    var status = stat()
    if descriptor < 0 || fstat(descriptor, &status) != 0 {
      let error = errno
      if descriptor >= 0 { close(descriptor) }
      throw .unreadable(error)
    }
    self.descriptor = descriptor
    (size, modified, changed, state) = (fetched.size, fetched.modified, status.changed, nil)
    parts = fetched.parts.map {
      PartialBytes(ByteReader(fileDescriptor: descriptor, size: fetched.size), held: $0)
    }
    (path, identity, knownContents) = (nil, FileIdentity(status), fetched.contents)
    (isCut, lacksLastBit) = (fetched.isCut, fetched.lacksLastBit)
    owner = .host(fetched.host)
  }

  deinit { close(descriptor) }

  package var version: Version { Version(bytes: parts?.byteCount ?? size, modified: modified, state: state) }

  /// Whether its contents have changed since it was opened, or its path leads to another file: what was read may be neither
  /// the old contents nor the new, or no longer have this name. A further name of the file (a hard link) or another mode is
  /// no such change, so its status time alone does not decide.
  package var hasChanged: Bool {
    var status = stat()
    guard let path, fstat(descriptor, &status) == 0 else { return false }
    if Int(status.st_size) != size || !isSameTime(status.modified, modified) { return true }
    return !isSameTime(status.changed, changed) && (FileIdentity(of: path) != identity || hasOtherContents)
  }

  /// Whether the contents differ although size and modification time are the same: a program may set that time.
  private var hasOtherContents: Bool {
    guard let knownContents, let ends = try? ends() else { return false }
    return SourceContents(size: size, ends: ends) != knownContents
  }

  /// The modification time for its thumbnails, by which the next run recognises that they are up to date. After a change it
  /// is another one than that of the file which has the path now, so that the next run makes them again, even where times
  /// are kept to two seconds.
  package var thumbnailTime: timespec {
    guard let path, hasChanged else { return modified }
    return ((try? FileStatus.of(path, followingLinks: true).get().modified) ?? modified).other
  }

  package private(set) lazy var bytes = parts?.reader(size: size) ?? hashedBytes

  /// The bytes of a file that is here. What is read in a row from the beginning is hashed on the way.
  private var hashedBytes: ByteReader {
    let plain = ByteReader(fileDescriptor: descriptor, size: size)
    guard isHashed else { return plain }
    return ByteReader(size: size) { [beginning] offset, buffer in
      let result = plain.read(at: offset, into: buffer)
      if case .success(let count) = result {
        beginning.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: offset)
      }
      return result
    }
  }

  /// Whether ``hash(step:)`` will be asked for, so that it is computed while the bytes are read for another purpose. Set before
  /// ``bytes`` are used.
  package var isHashed = false
  private let beginning = HashedBeginning()

  /// How many bytes at the end ``hash(step:)`` still has to read.
  package var unhashedCount: Int { size - beginning.count }

  /// Whether something was to be read that was not fetched. What came of it means nothing.
  package var lacksParts: Bool { parts?.missed.isEmpty == false }

  /// Whether only parts of the source were fetched.
  package var isInParts: Bool { parts != nil }

  /// Whether all of a part was fetched. If not, the file lacks parts from now on.
  package func has(_ range: Range<Int>) -> Bool { parts?.has(range) ?? true }

  /// Identifies the contents for the marks of thumbnails. They are read once.
  ///
  /// - Throws: `ThumbnailError.unreadable`.
  package func contents() throws(ThumbnailError) -> SourceContents {
    if let knownContents { return knownContents }
    let contents = SourceContents(size: size, ends: try ends())
    knownContents = contents
    return contents
  }

  /// A hash of all bytes.
  ///
  /// - Parameter step: called with the bytes of each piece that is read; an error ends the reading.
  /// - Throws: `ThumbnailError.unreadable`, and the errors of `step`.
  package func hash(step: (_ bytes: Int) throws -> Void) throws -> UInt64 {
    try forEachPiece(from: beginning.count) { piece in
      piece.withUnsafeBytes { beginning.append($0, at: UInt64(beginning.count)) }
      try step(piece.count)
    }
    return beginning.hash
  }

  /// Passes all bytes from an offset to `body`, one piece after the other.
  ///
  /// - Throws: `ThumbnailError.unreadable`, and the errors of `body`.
  package func forEachPiece(from start: Int = 0, _ body: ([UInt8]) throws -> Void) throws {
    var offset = start
    while case let piece = try read(1 << 18, at: offset), !piece.isEmpty {
      try body(piece)
      offset += piece.count
    }
  }

  /// The first and the last bytes.
  private func ends() throws(ThumbnailError) -> [UInt8] {
    var ends: [UInt8] = []
    for offset in [0, max(0, size - SourceContents.endSize)] {
      ends += try read(min(SourceContents.endSize, size), at: offset)
    }
    return ends
  }

  /// Determines the type from the first bytes.
  ///
  /// - Parameter source: expected to be an image if it is itself an argument or has the name of one.
  /// - Throws: `ThumbnailError.unreadable`.
  package func content(of source: Source) throws(ThumbnailError) -> Content { Self.content(try head(), of: source) }

  /// Determines the type of a file from its first bytes, of which there may be more than needed.
  package static func content(_ head: [UInt8], of source: Source) -> Content {
    if let image = image(head) { return image }
    let isExpected = source.origin == .argument || source.relativePath.hasPictureName
    if head.starts(with: appleDouble) { return .other(format: nil) }
    let format = OtherFormat.sniff(head, hasSVGName: source.path.hasEnding(Array(".svg".utf8), inAnyCase: true))
    return isExpected ? .notAnImage(notAnImage(head, format)) : .other(format: format)
  }

  /// Whether the file at a path can be opened, is a picture that can be read by its first bytes, and is no thumbnail of
  /// thumbjob.
  package static func isPicture(_ path: Path) -> Bool {
    guard let file = try? SourceFile(path), let head = try? file.head(), case .image(let type) = image(head) else {
      return false
    }
    return type.isReadable
  }

  /// An image or a thumbnail, recognised by its first bytes; nil for any other file.
  private static func image(_ head: [UInt8]) -> Content? {
    guard let type = ImageType.sniff(head) else { return nil }
    return ThumbnailMark(head: head[...]) != nil ? .thumbnail : .image(type)
  }

  /// How many bytes ``ImageType`` and ``ThumbnailMark`` need to tell what a file is.
  package static let headSize = max(ImageType.sniffLength, ThumbnailMark.headSize)

  /// The first bytes.
  private func head() throws(ThumbnailError) -> [UInt8] {
    try read(Self.headSize, at: 0)
  }

  /// The size of the picture as displayed, and how it is turned for that. Reads the header only.
  ///
  /// - Throws: `ThumbnailError`.
  package func shape(
    _ type: ImageType, isCancelled: @escaping () -> Bool = { false }
  ) throws(ThumbnailError) -> (pixels: PixelSize, orientation: Orientation) {
    if type == .jpeg {
      let info = try ThumbnailMaker.readInfo(of: bytes)
      return (info.orientedPixels, info.orientation)
    }
    let header = try PictureReader.readHeader(of: ByteReader(bytes) { !isCancelled() }, type: type)
    return (header.orientedPixels, header.orientation)
  }

  /// The type of a file that should be a picture which can be read.
  ///
  /// - Throws: `ThumbnailError`.
  package func expectedType() throws(ThumbnailError) -> ImageType { try Self.expectedType(head: try head()) }

  /// The same from the first bytes of a file, of which there may be more than needed.
  package static func expectedType(head: [UInt8]) throws(ThumbnailError) -> ImageType {
    guard let type = ImageType.sniff(head) else { throw notAnImage(head, OtherFormat.sniff(head, hasSVGName: false)) }
    guard type.isReadable else { throw .unsupportedType(type) }
    return type
  }

  /// Why bytes are no picture.
  private static func notAnImage(_ head: [UInt8], _ format: OtherFormat?) -> ThumbnailError {
    if head.isEmpty { return .empty }
    return format.map(ThumbnailError.otherFormat) ?? .notAnImage(Array(head.prefix(4)))
  }

  /// The type that the first bytes say; nil if they are of none, or cannot be read.
  package var type: ImageType? { (try? head()).flatMap { ImageType.sniff($0) } }

  /// What the camera has noted of the photo.
  package func facts(_ type: ImageType) -> PhotoFacts { PictureReader.readFacts(of: bytes, type: type) }

  /// Whether thumbjob has made the file, and what it says of its source then.
  ///
  /// - Throws: `ThumbnailError.unreadable`.
  package func thumbnailComments() throws(ThumbnailError) -> (isThumbnail: Bool, description: DescriptionComment?) {
    let head = try read(ThumbnailMark.headSize + DescriptionComment.longest, at: 0)
    return (Self.image(head) == .thumbnail, ThumbnailMark.description(head: head[...]))
  }

  /// Bytes from an offset; fewer than `count` only if the file ends before.
  ///
  /// - Throws: `ThumbnailError.unreadable`.
  private func read(_ count: Int, at offset: Int) throws(ThumbnailError) -> [UInt8] {
    guard has(min(offset, size)..<min(offset + count, size)) else { throw .unreadable(ENODATA) }
    do throws(Errno) { return try readAll(count, from: descriptor, at: offset) } catch {
      throw .unreadable(error.rawValue)
    }
  }

  /// The first bytes of AppleDouble files such as `._photo.jpg` (RFC 1740). macOS writes such a file next to a photo if
  /// the file system cannot store extended attributes. It has the name of an image but is none.
  private static let appleDouble: [UInt8] = [0x00, 0x05, 0x16, 0x07]
}

/// The hash of the bytes of a file from its beginning, as far as they were read.
private final class HashedBeginning {
  private(set) var count = 0
  private var state = XXH64()

  var hash: UInt64 { state.hash }

  /// Notes what was read. Only what continues the beginning counts; some may have been read before.
  func append(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) {
    guard offset <= count, offset + UInt64(bytes.count) > count else { return }
    let new = bytes.dropFirst(count - Int(offset))
    state.append(UnsafeRawBufferPointer(rebasing: new))
    count += new.count
  }
}

extension ImageType {
  /// Whether thumbnails of such files can be made.
  package var isReadable: Bool { self == .jpeg || PictureReader.reads(self) }
}
