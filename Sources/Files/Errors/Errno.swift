import Foundation

/// The number of an error of a system call, as `errno` has it.
///
/// *Source*: errno(3). swift-system has a type of this name too. With it, a package that depends on `MemoryPressure` would
/// have to fetch swift-system for this type alone.
package struct Errno: RawRepresentable, Error, Hashable, Sendable, CustomStringConvertible {
  package let rawValue: CInt

  package init(rawValue: CInt) { self.rawValue = rawValue }

  /// The error of the last call of this thread.
  package static var current: Errno { Errno(rawValue: errno) }

  /// The system's text.
  package var description: String { systemText(rawValue) }
}

extension Errno {
  package static let notPermitted = Errno(rawValue: EPERM)
  package static let noSuchFileOrDirectory = Errno(rawValue: ENOENT)
  package static let interrupted = Errno(rawValue: EINTR)
  package static let ioError = Errno(rawValue: EIO)
  package static let badFileDescriptor = Errno(rawValue: EBADF)
  package static let wouldBlock = Errno(rawValue: EWOULDBLOCK)
  package static let noMemory = Errno(rawValue: ENOMEM)
  package static let permissionDenied = Errno(rawValue: EACCES)
  package static let fileExists = Errno(rawValue: EEXIST)
  package static let improperLink = Errno(rawValue: EXDEV)
  package static let notDirectory = Errno(rawValue: ENOTDIR)
  package static let isDirectory = Errno(rawValue: EISDIR)
  package static let invalidArgument = Errno(rawValue: EINVAL)
  package static let tooManyOpenFilesInSystem = Errno(rawValue: ENFILE)
  package static let tooManyOpenFiles = Errno(rawValue: EMFILE)
  package static let fileTooLarge = Errno(rawValue: EFBIG)
  package static let noSpace = Errno(rawValue: ENOSPC)
  package static let illegalSeek = Errno(rawValue: ESPIPE)
  package static let readOnlyFileSystem = Errno(rawValue: EROFS)
  package static let deviceBusy = Errno(rawValue: EBUSY)
  package static let tooManyLinks = Errno(rawValue: EMLINK)
  package static let fileNameTooLong = Errno(rawValue: ENAMETOOLONG)
  package static let noFunction = Errno(rawValue: ENOSYS)
  package static let tooManySymbolicLinkLevels = Errno(rawValue: ELOOP)
  package static let notSupported = Errno(rawValue: ENOTSUP)
  package static let diskQuotaExceeded = Errno(rawValue: EDQUOT)
}
