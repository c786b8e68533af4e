import Files

/// What a job may remove after a run.
public struct PrunePlan: Sendable {
  /// The source folders whose gone photos lose their thumbnails.
  let folders: [Path]
  /// Whether nothing may be removed.
  public var isEmpty: Bool { folders.isEmpty }
  /// Why nothing is removed, or nothing of some source folders.
  public let refusals: [PruneRefusal]
}
