import JobSettings

/// Thumbnails of photos that are gone, which a job has left.
package struct GoneResults: Sendable, Equatable {
  /// How many there are.
  package let thumbnails: Int
  /// What would make a job remove all of them.
  package let mode: PruneMode
  /// Why a job does so only if more than `--prune` is asked for; nil if that is enough.
  package let refusal: PruneRefusal?
  /// Whether a job can find them. If their names tell more than the paths of the photos, it cannot.
  package var areFound = true
}
