import Fetching
import Files
import Foundation
import Locking
import Sourcing
import Thumbnails

/// A picture that was received.
struct ReceivedPicture: Sendable {
  let file: FetchedFile
  /// Nil if the server keeps no previews.
  let digest: SHA256Digest?
}

/// Receives pictures into files without names.
///
/// Only the beginning of a picture is in memory, with its header. The rest is read when the spool has room for it. Until then, the
/// client keeps it.
///
/// *Concurrency*: from any thread. Files are written on a thread of their own.
final class PictureReceiver: Sendable {
  /// What is in memory of each picture at most.
  static let windowBytes = 64 << 10
  /// The most bytes of a picture of unknown length. So much of the spool is kept for it.
  private static let unknownLength = 64 << 20
  /// The most bytes of a form besides its picture.
  private static let mostOfForm = 1 << 20

  private let spool: Spool
  /// The most bytes of a picture.
  private let limit: Int
  /// Whether the digests of pictures are computed.
  private let digests: Bool
  private let writer = SerialThread(name: "bodies")

  init(_ spool: Spool, limit: Int, digests: Bool) { (self.spool, self.limit, self.digests) = (spool, limit, digests) }

  /// Receives the picture in a body.
  ///
  /// - Parameters:
  ///   - contentType: that of the request, which may be a form.
  ///   - field: the form field with the picture; nil for the first file.
  ///   - client: who sends it.
  ///   - check: gets the beginning, before more is read; throws ``PreviewError`` if the picture is not wanted.
  /// - Throws: ``PreviewError``, and the errors of the body.
  func receive(
    _ body: any PreviewBody, contentType: String?, field: String?, from client: String,
    check: ([UInt8]) throws(PreviewError) -> Void
  ) async throws -> ReceivedPicture {
    if let length = body.length, length > limit { throw tooLong }
    var form = try FormReader(contentType: contentType, field: field)
    try await body.begin()
    let file = try made()
    var digest = digests ? SHA256Hasher() : nil
    var window: [UInt8] = []
    var (size, reserved, isChecked) = (0, 0, false)
    var rest = Self.mostOfForm
    while let piece = try await body.next() {
      let bytes = try form?.take(piece) ?? piece
      rest -= piece.count - bytes.count
      guard rest >= 0 else { throw PreviewError(413, .limit, "the form has too much besides its picture") }
      window += bytes
      guard size + window.count <= limit else { throw tooLong }
      guard window.count >= Self.windowBytes else { continue }
      if !isChecked { try check(window) }
      isChecked = true
      if reserved == 0 {
        reserved = body.length ?? min(limit, Self.unknownLength)
        try await reserve(reserved, for: file)
      }
      guard size + window.count <= reserved else {
        throw PreviewError(
          411, .limit, "a picture above \(ByteCount.memory(reserved)) needs the field Content-Length")
      }
      digest = try await write(window, to: file, digest)
      size += window.count
      window.removeAll(keepingCapacity: true)
    }
    try form?.checkEnd()
    if size + window.count == 0 { throw PreviewError(400, .picture, "the request has no picture") }
    if !isChecked { try check(window) }
    if reserved == 0 { try await reserve(window.count, for: file) }
    digest = try await write(window, to: file, digest)
    file.shrinkReservation()
    let whole = FetchedFile(
      host: client, file: file, size: file.size, modified: timespec(), contents: nil, parts: nil, isCut: false,
      lacksLastBit: false)
    return ReceivedPicture(file: whole, digest: digest?.finish())
  }

  private var tooLong: PreviewError {
    PreviewError(413, .limit, "the picture has more than \(ByteCount.memory(limit)), the limit of the server")
  }

  private func made() throws(PreviewError) -> SpoolFile {
    do throws(FetchError) { return try spool.file() } catch { throw Self.failure(error) }
  }

  /// Waits until the spool has room.
  private func reserve(_ bytes: Int, for file: SpoolFile) async throws {
    let turn = Arrival()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        turn.wait(continuation)
        if file.reserve(bytes, grant: { turn.come() }) { turn.come() }
        if Task.isCancelled { turn.leave() }
      }
    } onCancel: {
      turn.leave()
    }
  }

  /// Writes bytes, and appends them to a digest.
  ///
  /// - Returns: the digest.
  private func write(_ bytes: [UInt8], to file: SpoolFile, _ digest: SHA256Hasher?) async throws -> SHA256Hasher? {
    try await withCheckedThrowingContinuation { continuation in
      writer.async {
        var digest = digest
        bytes.withUnsafeBytes { digest?.append($0) }
        do throws(FetchError) {
          try file.append(bytes)
          continuation.resume(returning: digest)
        } catch {
          continuation.resume(throwing: Self.failure(error))
        }
      }
    }
  }

  private static func failure(_ error: FetchError) -> PreviewError {
    PreviewError(503, .server, "the server has no room for the picture: \(error)", retryAfter: 30)
  }

  /// A task that waits for room. Only the first of both ends counts.
  private final class Arrival: Sendable {
    private let state = Locked<CheckedContinuation<Void, any Error>?>(nil)

    func wait(_ continuation: CheckedContinuation<Void, any Error>) { state.withLock { $0 = continuation } }

    func come() { state.withLock { $0.take() }?.resume() }

    func leave() { state.withLock { $0.take() }?.resume(throwing: CancellationError()) }
  }
}
