import BoundedQueue
import Fetching
import Files
import PictureMaking
import Sourcing
import Thumbnails

/// What all operations of a server share.
struct PreviewParts: Sendable {
  let memory: MemoryPlan
  let makers = MakerPool()
  let decoders: PictureDecoders
  /// The most pixels that a picture, and a preview, may have.
  let limitPixels: Int
  /// How long an operation may run.
  let timeout: Duration
}

/// Makes one preview of one picture that was received.
///
/// If it is cancelled, it ends within a few rows of pixels.
final class PreviewOperation: ResultOperation<Preview>, @unchecked Sendable {  // all is set in `init`
  private let picture: FetchedFile
  private let request: PreviewRequest
  private let parts: PreviewParts

  /// - Parameter name: of the request, for people.
  init(_ picture: FetchedFile, _ request: PreviewRequest, name: String, _ parts: PreviewParts) {
    (self.picture, self.request, self.parts) = (picture, request, parts)
    super.init(
      title: "preview of \(name), \(ByteCount.file(picture.size)) from \(picture.host)", kind: "preview",
      subject: name,
      key: picture.host, timeLimit: parts.timeout)
  }

  override func makeResult() throws -> Preview {
    report(stage: ThumbnailStage.reading.rawValue)
    let file = try SourceFile(picture)
    let type = try file.expectedType()
    let shape = try file.shape(type, isCancelled: { self.isCancelled })
    let options = try request.options(for: shape.pixels, type, limitPixels: parts.limitPixels)
    var decoding = parts.decoders.firstDecoding(isSuspect: false)
    var preview: Preview?
    let whole = try SourcePicture(file, type, for: options, monitor: self)
    try whole.attempt(
      parts.decoders, parts.memory, for: options, &decoding, isSuspect: false, monitor: self
    ) { picture, decoding in
      report(stage: "reserving")
      let needed = picture.bytesNeeded(for: options, decoding: decoding)
      try withReservation(of: parts.memory.reservation(for: needed)) {
        try parts.makers.withMaker { maker in
          _ = try picture.makeThumbnails(
            maker, parts.decoders, options: options, decoding: decoding, monitor: self
          ) { made in
            preview = Preview(bytes: Array(made.bytes), mediaType: made.format.mediaType, pixels: made.pixels)
          }
        }
      }
    }
    guard let preview else { throw ThumbnailError.internalFault("a picture has no preview") }
    return preview
  }
}

extension PreviewOperation: ThumbnailMonitor {
  func entered(_ stage: ThumbnailStage) { report(stage: stage.rawValue) }

  func progressed(to fraction: Double) { reportProgress(fraction) }
}

/// Reads the header of a picture that was received.
final class DescribeOperation: ResultOperation<PictureDescription>, @unchecked Sendable {  // all is set in `init`
  private let picture: FetchedFile

  init(_ picture: FetchedFile, name: String, timeLimit: Duration) {
    self.picture = picture
    super.init(
      title: "description of \(name) from \(picture.host)", kind: "description", subject: name, key: picture.host,
      timeLimit: timeLimit)
  }

  override func makeResult() throws -> PictureDescription {
    let file = try SourceFile(picture)
    let type = try file.expectedType()
    let shape = try file.shape(type, isCancelled: { self.isCancelled })
    return PictureDescription(
      width: shape.pixels.width, height: shape.pixels.height, type: type.rawValue,
      orientation: shape.orientation.rawValue)
  }
}
