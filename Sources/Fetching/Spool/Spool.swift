import CLinux
import Files
import Foundation
import Locking

/// The disk space for sources that are fetched and not used yet. Each file reserves its bytes before the first one of a try is
/// written, and gives them back when it is released or when the try has failed. So no file that waits holds any.
///
/// *Concurrency*: every member may be called from any thread.
package final class Spool: Sendable {
  private struct State {
    /// Reserved bytes.
    var reserved = 0
    /// The reservations that wait, in order.
    var waiting: [(bytes: Int, file: ObjectIdentifier, grant: @Sendable () -> Bool)] = []
  }

  /// Nil if the files are in memory.
  private let folder: Path?
  private let bytes: Int
  /// Guarded by its lock, under which no closure is called.
  private let state = Locked(State())

  /// - Parameters:
  ///   - folder: for the files, which have no names.
  ///   - bytes: the most bytes of all files together.
  package init(folder: Path, bytes: Int) { (self.folder, self.bytes) = (folder, bytes) }

  /// For short answers, whose files are in memory.
  ///
  /// - Parameter bytes: the most bytes of all files together.
  package init(inMemory bytes: Int) { (folder, self.bytes) = (nil, bytes) }

  var capacity: Int { bytes }

  /// The bytes that are reserved now.
  package var reserved: Int { state.withLock { $0.reserved } }

  /// Makes an empty file.
  ///
  /// - Throws: ``FetchError/spool(_:)``
  package func file() throws(FetchError) -> SpoolFile {
    guard let folder else {
      let number = memfd_create("answer", Self.closeOnExec)
      if number < 0 { throw .spool(Errno(rawValue: errno)) }
      return SpoolFile(Descriptor(number), self)
    }
    do throws(Errno) {
      return SpoolFile(Descriptor(try createUnnamedFile(on: folder, in: AT_FDCWD, mode: 0o600)), self)
    } catch {
      throw .spool(error)
    }
  }

  /// MFD_CLOEXEC.
  private static let closeOnExec: UInt32 = 1

  /// Reserves bytes for a file. More than the whole space counts as the whole space: the file then is alone.
  ///
  /// - Parameter grant: called on any thread when they are reserved, unless they are at once; false if the file is gone.
  /// - Returns: the reserved bytes; nil if the file waits.
  func reserve(_ wanted: Int, for file: SpoolFile, grant: @escaping @Sendable () -> Bool) -> Int? {
    let wanted = min(wanted, bytes)
    return state.withLock { state in
      guard state.waiting.isEmpty, state.reserved + wanted <= bytes else {
        state.waiting.append((wanted, ObjectIdentifier(file), grant))
        return nil
      }
      state.reserved += wanted
      return wanted
    }
  }

  /// Gives bytes back, and grants the reservations that fit now.
  ///
  /// - Parameter file: no longer waits, if it does.
  func release(_ count: Int, of file: ObjectIdentifier?) {
    var surplus = count
    var gone = file
    repeat {
      let granted = state.withLock { state in
        state.reserved -= surplus
        if let gone { state.waiting.removeAll { $0.file == gone } }
        var granted: [(bytes: Int, grant: @Sendable () -> Bool)] = []
        while let first = state.waiting.first, state.reserved + first.bytes <= bytes {
          state.reserved += first.bytes
          granted.append((first.bytes, first.grant))
          state.waiting.removeFirst()
        }
        return granted
      }
      (surplus, gone) = (0, nil)
      for (bytes, grant) in granted where !grant() { surplus += bytes }
    } while surplus > 0
  }
}
