import Files
import JobSettings
import PictureMaking
import Places
import TraceRecording

/// The parts of a job that computes checksums in place of thumbnails.
///
/// The engine asks ``ComputeChecksums`` in place of ``MakeThumbnails``, and a ``ChecksumOperation`` reads its source through one
/// buffer into a ``SHA256Hasher``. The ``ChecksumFile`` collects a ``ChecksumLine`` of each source, and writes their list in the
/// ``ChecksumPlace``. The ``ChecksumLedger`` remembers the digests for the next run.
struct Checksums {
  let kind: ComputeChecksums
  private let ledger: ChecksumLedger?
  private let file: ChecksumFile?

  /// - Parameters:
  ///   - place: of the list; nil if the job makes none.
  ///   - isRead: whether nothing is made.
  /// - Throws: ``OutputError``
  init(
    _ settings: JobSettings, _ place: ChecksumPlace?, _ memory: MemoryPlan, trace: TraceRecorder?, isRead: Bool,
    onEvent: @escaping @Sendable (JobEvent) -> Void
  ) throws(OutputError) {
    kind = ComputeChecksums(
      place: place, shared: ChecksumOperation.Shared(memory: memory, retries: settings.retries, trace: trace),
      isDryRun: settings.dryRun)
    ledger = place.map { place in ChecksumLedger(place, settings, isReading: isRead) { onEvent(.ledger($0)) } }
    guard let place, let ledger, !isRead else {
      file = nil
      return
    }
    file = try ChecksumFile(place, ledger, isDurable: settings.durable) { onEvent(.join($0)) }
  }

  /// In the order in which the engine asks.
  var capabilities: [any JobCapability] { [ledger as (any JobCapability)?, file].compactMap(\.self) }

  /// What is known of sources from the network.
  var remoteResults: NetworkSources.Results {
    NetworkSources.Results { [ledger] source in ledger?.remoteState(of: source) ?? .missing }
  }
}
