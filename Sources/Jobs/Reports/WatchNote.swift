import Files
import Foundation

/// The counters of a job that watches its folders.
package struct WatchCounters: Sendable, Equatable {
  /// Folders that the kernel watches, with those below the source folders.
  package internal(set) var folders = 0
  /// Source folders that are walked again and again instead.
  package internal(set) var polledFolders = 0
  /// Changes that the kernel has reported.
  package internal(set) var changes = 0
  /// Changed paths that wait until they are left alone.
  package internal(set) var waiting = 0
  /// Walks over everything: the first, and one whenever changes were lost.
  package internal(set) var walks = 0
  /// When the last change was reported; nil if there was none.
  package internal(set) var lastChange: Date?
}

/// What a job that watches its folders has to say about them.
package enum WatchNote: Sendable, Equatable {
  /// Why changes in a folder are found by walks.
  package enum PollReason: Sendable, Equatable {
    /// It was asked for.
    case wanted
    /// The folder is on this file system, on which others change files without an event.
    case remote(String)
    /// The user may watch fewer folders than these (`fs.inotify.max_user_watches`).
    case limit(folders: Int)
    /// More sources than this number have several names.
    case linked(Int)
    /// The folders cannot be watched.
    case failed(Errno)
  }

  /// All folders were walked, and are watched from now on.
  case ready(folders: Int)
  /// The changes in a folder are found by walks, with this time between them.
  case polling(Path, PollReason, every: Duration)
  /// The file of a source, the first of perhaps many, has several names. What is written by another name is found by looking
  /// at such files, with this time between.
  case linked(Path, every: Duration)
  /// Changes were lost, so everything is walked again.
  case overflow
  /// Thumbnails whose sources went unseen stay, for this reason.
  case notSwept(PruneRefusal)
  /// A source folder was removed, moved away or unmounted. Its thumbnails stay.
  case gone(Path)
  /// A source folder is there again.
  case back(Path)
}
