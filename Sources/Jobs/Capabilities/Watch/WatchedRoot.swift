import Files
import Foundation
import Places

/// A source folder that a job watches.
struct WatchedRoot {
  /// The index of its argument in the job.
  let argument: Int
  let path: Path
  /// The path that its thumbnails mirror, from the beginning of the tree.
  let mirrored: Path
  /// Whether it was a mount point at first. If it is none later, its disk is not mounted.
  private let isMountPoint: Bool
  /// The folder that had the path when it was last walked; nil before.
  var identity: FileIdentity?
  /// Why changes are found by walks; nil if the kernel reports them.
  var pollReason: WatchNote.PollReason?
  /// Whether ``pollReason`` was said.
  var isPollingSaid = false
  var isGone = false
  /// When it is walked next, if it is polled.
  var nextPoll = ContinuousClock.now

  init(argument: Int, path: Path, mirrored: Path) {
    (self.argument, self.path, self.mirrored) = (argument, path, mirrored)
    isMountPoint = MountPoints.isMountPoint(path)
  }

  /// The folder that has the path now; nil if there is none, or its disk is not mounted.
  var present: FileIdentity? {
    guard case .success(let status) = FileStatus.of(path, followingLinks: true), status.kind == .folder,
      !isMountPoint || MountPoints.isMountPoint(path)
    else { return nil }
    return FileIdentity(status)
  }
}
