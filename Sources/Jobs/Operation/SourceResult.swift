import BoundedQueue
import Files
import PictureMaking
import Places
import Sourcing
import Thumbnails

/// The result of one source.
package enum SourceResult: Sendable {
  /// Every thumbnail is in place, or would be made if this were not a dry run.
  case made
  /// The file is not an image. The format is nil if it is unknown.
  case notImage(format: OtherFormat?)
  /// The file is a thumbnail that thumbjob has made.
  case thumbnail
  /// The file is an image of a type that is not supported yet.
  case unsupported(ImageType)
  /// An earlier argument has the same file.
  case duplicate(of: Path)
  case failed(SourceFailure)
  case cancelled(CancelReason)
  /// The source was removed before its thumbnails were made. Only a job that watches its folders distinguishes this from a
  /// failure.
  case gone
}

extension SourceResult {
  /// Whether there is no thumbnail, and another try will give none until the source changes.
  var isFruitless: Bool {
    switch self {
    case .notImage, .thumbnail, .unsupported, .duplicate, .failed: true
    case .made, .cancelled, .gone: false
    }
  }
}

/// The result of one source with its details.
package struct SourceReport: Sendable {
  package let source: Source
  package let result: SourceResult
  /// The thumbnails that were made. There may be some even if the source failed or was cancelled.
  package var thumbnails: [MadeThumbnail] = []
  /// What was found out of the source; nil for thumbnails.
  package var line: LineResult?
  /// Warnings of the decoder.
  package var warnings: [String] = []
  /// Why the thumbnails are worse than they were asked for; nil if they are not.
  package var shortfall: String?
  /// The size of the source in bytes; nil if it was not opened.
  package var bytes: Int?
  /// The operation of the source; nil if none was submitted.
  package var operation: OperationSnapshot?
}

/// Receives a thumbnail that is in place, on the thread that made it. Its bytes are valid during the call only.
package typealias ThumbnailHandler = @Sendable (_ operation: Int, _ source: Path, _ thumbnail: Thumbnail) -> Void
