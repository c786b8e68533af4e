import Fetching
import Files
import Foundation
import JobSettings
import Thumbnails

/// An output folder, a thumbnail or a join could not be written.
package struct OutputError: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Kind: Sendable, Equatable {
    /// The output folder cannot be made or written to, so there can be no thumbnail at all.
    case cannotCreate
    /// The folder belongs to a user and is for that user alone, and root runs the job.
    case ofAnotherUser(uid_t)
    /// Every source of the job is the output folder or in it, where nothing is a source.
    case isSource
    /// The output folder is in a source folder and has photos already, the first of which is given.
    case hasPhotos(Path)
    /// Another output of the job has the same folder, or one that contains it.
    case shared
    /// The place has a file that is not a thumbnail.
    case foreign
    /// The place of a manifest, a contact sheet or a gallery has another file.
    case notJoin(JoinKind)
    /// The place has a file that cannot be read, so it may be no thumbnail.
    case unreadable
    /// The place has the thumbnail of another source, which exists.
    case taken
    /// The place is that of two thumbnails of the source, which differ.
    case sizesMeet(SizeSpec, SizeSpec)
    /// The place is a folder, or one of its parents is a file.
    case blocked
    /// The name is longer than the file system allows.
    case nameTooLong
    /// The output folder, or the folder `.thumbjob` in it, was removed during the run.
    case removed
    /// The run is ending and writes nothing more.
    case closed
    /// A thumbnail could not be removed.
    case cannotRemove
    /// The service of the bucket does not keep the thumbnail, or does not tell what it has.
    case notKept(FetchError)
    /// There is no temporary folder.
    case noWorkFolder
    /// The system reported another error.
    case failed
  }

  package let kind: Kind
  /// The file or folder that could not be written.
  package let path: Path
  /// The system's error.
  package let error: Errno?

  package init(_ kind: Kind, _ path: Path, _ error: Errno? = nil) {
    self.kind = kind
    self.path = path
    self.error = error
  }

  /// Classifies a system error that occurred while the thumbnail at `path` was written.
  package init(writing path: Path, _ error: Errno) {
    let kind: Kind =
      switch error {
      case .isDirectory, .notDirectory, .fileExists: .blocked
      case .fileNameTooLong: .nameTooLong
      default: .failed
      }
    self.init(kind, path, error)
  }

  /// Whether the disk is full, the quota is used up, or the file is larger than allowed.
  package var isOutOfSpace: Bool {
    switch error {
    case .noSpace?, .diskQuotaExceeded?, .fileTooLarge?: true
    default: false
    }
  }

  /// Whether another source has the place.
  package var isCollision: Bool { kind == .taken }

  /// Whether it concerns this place only, so that the source may have thumbnails in other outputs.
  package var isOnlyOfPlace: Bool {
    switch kind {
    case .foreign, .unreadable, .taken, .sizesMeet, .blocked, .nameTooLong: true
    case .cannotCreate, .ofAnotherUser, .isSource, .hasPhotos, .notJoin, .shared, .removed, .closed, .cannotRemove,
      .notKept,
      .noWorkFolder, .failed:
      false
    }
  }

  /// Whether the job ends with this error: the disk is full, the quota is used up, the disk is read-only, or the output
  /// folder is gone.
  package var endsJob: Bool {
    if case .notKept(let error) = kind { return error.concernsAll }
    return kind == .removed || error == .noSpace || error == .diskQuotaExceeded || error == .readOnlyFileSystem
  }

  /// Whether a thumbnail could not go to its bucket.
  package var isOfBucket: Bool { if case .notKept = kind { true } else { false } }

  /// Whether the whole disk is at fault: full, faulty or read-only.
  package var isDiskFault: Bool { isOutOfSpace || error == .ioError || error == .readOnlyFileSystem }

  /// One line: the path and the reason.
  package var description: String {
    let name = path.printable
    let reason = error?.description ?? ""
    return switch kind {
    case .cannotCreate where error == .noSuchFileOrDirectory:
      "\(name): cannot be the output folder: it is, or is below, a link that leads nowhere"
    case .cannotCreate where error == .fileExists || error == .notDirectory:
      "\(name): cannot be the output folder: a file is in the way"
    case .cannotCreate: "\(name): cannot be used as the output folder: \(reason)"
    case .ofAnotherUser(let user):
      "\(name): belongs to user \(user), who could not read what root puts there"
    case .isSource: "\(name): is the output folder or in it, where nothing is a source"
    case .hasPhotos(let photo):
      "\(name): cannot be the output folder: it is in a source folder and has photos, such as \(photo.printable)"
    case .foreign: "\(name): exists and is not a thumbnail of thumbjob"
    case .notJoin(let kind): "\(name): exists and is not a \(kind.rawValue) of thumbjob"
    case .unreadable: "\(name): exists and cannot be read: \(reason)"
    case .shared: "\(name): is the folder of two outputs, or in that of another; give each output its own folder"
    case .taken: "another source has the place of its thumbnail, \(name)"
    case .sizesMeet(let one, let other):
      "its thumbnails of \(one.unnamed) and \(other.unnamed) differ and would have one place, \(name)"
    case .blocked where error == .isDirectory: "\(name): cannot be written: a folder has this name"
    case .blocked: "\(name): cannot be written: a file is where a folder is needed"
    case .nameTooLong: "\(name): cannot be written: the name is longer than the file system allows"
    case .removed: "\(name): was removed while the run wrote to it"
    case .closed: "\(name): not written: the run is ending"
    case .cannotRemove: "\(name): cannot be removed: \(reason)"
    case .notKept(let error): "\(name): no thumbnail can be kept there: \(error)"
    case .noWorkFolder: "\(name): cannot be used for temporary files: \(reason)"
    case .failed: "\(name): cannot be written: \(reason)"
    }
  }
}
