import Files
import JobSettings
import Places

/// Thumbnails, with all that a job of them can do besides.
struct PreparedThumbnails: PreparedKind {
  let needsTemporaryFolder: Bool
  let isSorted: Bool
  let decodesPictures = true

  init?(_ settings: JobSettings, isRead: Bool) {
    guard settings.kind is ThumbnailKind else { return nil }
    (needsTemporaryFolder, isSorted) = (!settings.bucketOutputs.isEmpty, !settings.joins.isEmpty)
  }

  /// Each output has one of its own.
  var workingFolder: Path? { nil }

  /// What a job can do besides its kind of work, in the order in which the engine asks. Where two decide about one source,
  /// the later one has the last word. One goes with its folder and its line here, and those that stand on it.
  private static let capabilities: [any JobCapability.Type] = [
    OtherRuns.self,
    PressureControl.self,
    NetworkSources.self,
    JobLedger.self,
    Pruning.self,  // stands on JobLedger
    FolderWatch.self,  // stands on JobLedger, Pruning
    Verifying.self,  // stands on JobLedger
    Recognizing.self,  // stands on JobLedger, Pruning
    Joining.self,
    DiskReading.self,  // reads the sources that the capabilities above leave to be made
  ]

  func make(_ parts: JobParts) throws(OutputError) -> any JobKind {
    try parts.make(Self.capabilities)
    return MakeThumbnails(parts)
  }
}
