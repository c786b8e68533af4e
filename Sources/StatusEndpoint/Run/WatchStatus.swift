/// How a run follows the changes in its source folders.
public struct WatchStatus: Codable, Sendable, Equatable {
  /// Folders that are watched, with those below the source folders.
  public var folders: Int
  /// Source folders that are walked again and again instead, because their file systems report no changes.
  public var polledFolders: Int
  /// Changes that the system has reported.
  public var changes: Int
  /// Changed paths that wait until they are left alone.
  public var waitingChanges: Int
  /// Walks over everything: the first, and one whenever changes were lost.
  public var walks: Int
  /// Thumbnails removed because their sources are gone.
  public var removed: Int
  /// Seconds since 1970, when the last change was reported; nil before.
  public var lastChangeAt: Double?

  enum CodingKeys: String, CodingKey {
    case folders, changes, walks, removed
    case polledFolders = "polled_folders"
    case waitingChanges = "waiting_changes"
    case lastChangeAt = "last_change_at"
  }

  public init(
    folders: Int, polledFolders: Int, changes: Int, waitingChanges: Int, walks: Int, removed: Int,
    lastChangeAt: Double?
  ) {
    (self.folders, self.polledFolders, self.changes) = (folders, polledFolders, changes)
    (self.waitingChanges, self.walks, self.removed) = (waitingChanges, walks, removed)
    self.lastChangeAt = lastChangeAt
  }
}
