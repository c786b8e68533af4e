/// How far a job goes that removes the thumbnails of sources that are gone.
package enum PruneMode: String, Sendable, CaseIterable {
  /// Only where there is no doubt.
  case yes
  /// Also where more than half of the photos of a source folder are gone.
  case all
  /// Also where a source folder is another one than in earlier runs, or none of its photos are there.
  case force
}
