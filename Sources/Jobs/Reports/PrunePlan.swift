import Files

/// What a job may remove after a run.
package struct PrunePlan: Sendable {
  /// The source folders whose gone photos lose their thumbnails.
  let folders: [Path]
  /// Whether nothing may be removed.
  package var isEmpty: Bool { folders.isEmpty }
  /// Why nothing is removed, or nothing of some source folders.
  package let refusals: [PruneRefusal]
}
