import Files
import SystemPackage

/// Why an output folder or a thumbnail could not be written.
public struct OutputError: Error, Sendable, Equatable, CustomStringConvertible {
  public enum Kind: Sendable, Equatable {
    /// The output folder itself cannot be made or written in: nothing can be made at all.
    case cannotCreate
    /// Another output of the job writes to the same folder.
    case shared
    /// A file is where the thumbnail goes that is none.
    case foreign
    /// Another source's thumbnail was put there by this run.
    case taken
    /// Something else is where the thumbnail goes: a folder, or a file where a folder is needed.
    case blocked
    /// A name longer than the file system takes.
    case nameTooLong
    /// The run is being given up; nothing is written any more.
    case closed
    /// The disk refused.
    case failed
  }

  public let kind: Kind
  /// What was to be written.
  public let path: Path
  /// The system's error.
  public let error: Errno?

  init(_ kind: Kind, _ path: Path, _ error: Errno? = nil) {
    self.kind = kind
    self.path = path
    self.error = error
  }

  /// What the system's `error` means for writing the thumbnail at `path`.
  init(writing path: Path, _ error: Errno) {
    let kind: Kind =
      switch error {
      case .isDirectory, .notDirectory, .fileExists: .blocked
      case .fileNameTooLong: .nameTooLong
      default: .failed
      }
    self.init(kind, path, error)
  }

  /// True when there is no room: on the disk, in the quota or under the largest size allowed.
  public var isOutOfRoom: Bool {
    switch error {
    case .noSpace?, .diskQuotaExceeded?, .fileTooLarge?: true
    default: false
    }
  }

  /// True when the disk is at fault, not the place: out of room, faulty, or read-only.
  public var isDiskFault: Bool { isOutOfRoom || error == .ioError || error == .readOnlyFileSystem }

  /// One line: what, where, why.
  public var description: String {
    let name = path.printable
    let reason = error?.description ?? ""
    return switch kind {
    case .cannotCreate where error == .fileExists || error == .notDirectory:
      "\(name): cannot be the output folder: a file is in the way; choose another with --out"
    case .cannotCreate: "\(name): cannot be written in as output folder: \(reason); choose another with --out"
    case .foreign: "\(name): is there and no thumbnail of ours; move it away or choose another folder with --out"
    case .shared: "\(name): is the folder of two outputs; give each its own"
    case .taken: "\(name): has the thumbnail of another source of this run; rename one of them"
    case .blocked where error == .isDirectory: "\(name): cannot be written: a folder has this name"
    case .blocked: "\(name): cannot be written: a file is where a folder is needed"
    case .nameTooLong: "\(name): cannot be written: the name is longer than the output's file system takes"
    case .closed: "\(name): not written: the run was given up"
    case .failed: "\(name): cannot be written: \(reason)"
    }
  }
}
