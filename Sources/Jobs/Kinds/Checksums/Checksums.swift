import Files
import JobSettings
import Places

/// A job that computes checksums in place of thumbnails.
///
/// The engine asks ``ComputeChecksums`` in place of ``MakeThumbnails``, and a ``ChecksumOperation`` reads its source through one
/// buffer into a ``SHA256Hasher``. The ``ChecksumFile`` collects a ``ChecksumLine`` of each source, and writes their list in the
/// ``ChecksumPlace``. The ``ChecksumLedger`` remembers the digests for the next run.
struct Checksums: PreparedKind {
  /// Of the list; nil if the job makes none.
  let place: ChecksumPlace?
  let needsTemporaryFolder: Bool
  let decodesPictures = false

  init?(_ settings: JobSettings, isRead: Bool) throws(OutputError) {
    guard let kind = settings.kind as? ChecksumSettings else { return nil }
    place = kind.file == nil ? nil : try ChecksumPlace(kind, settings.shard, isRead: isRead)
    needsTemporaryFolder = place == nil && settings.mayFetch
  }

  var workingFolder: Path? { place?.working }
  var isSorted: Bool { place != nil }

  /// What a job can do besides its kind of work; see ``PreparedThumbnails``.
  private static let capabilities: [any JobCapability.Type] = [
    PressureControl.self,
    ChecksumLedger.self,
    NetworkSources.self,
    ChecksumFile.self,  // stands on ChecksumLedger
    DiskReading.self,
  ]

  func make(_ parts: JobParts) throws(OutputError) -> any JobKind {
    try parts.make(Self.capabilities)
    return ComputeChecksums(
      place: place,
      shared: ChecksumOperation.Shared(memory: parts.memory, retries: parts.settings.retries, trace: parts.trace),
      isDryRun: parts.settings.dryRun)
  }
}
