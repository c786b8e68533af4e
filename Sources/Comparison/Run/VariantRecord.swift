import Files
import Foundation

/// Everything that is known about a variant's process so far. It decides when the process is asked to list its
/// operations and told to stop.
struct VariantRecord {
  /// The process is asked to list its operations once a tenth of the sources are done, or a second after its start.
  private static let listShare = 10
  private static let listAfterSeconds = 1.0
  /// How long it has to answer before it is told to stop.
  private static let answerSeconds = 0.25
  /// The signals by which it is asked to list its operations, and told to stop.
  private static let (listSignal, stopSignal) = (SIGUSR1, SIGUSR2)

  /// The reason that the variant has reported for giving up.
  private(set) var reasonToGiveUp: String?
  private var measurement: VariantMeasurement
  private let sources: Int
  private var counts = VariantCounts()
  /// The counts when the process was told to stop: its own report of that moment or, before this arrives, the counts
  /// that it had reported last.
  private var countsAtStop = VariantCounts()
  /// Whether the process has reported that it was told to stop.
  private var hasNoticedStop = false
  /// Whether a message has arrived. Before that, the process might not handle its signals yet.
  private var hasReported = false

  init(_ variant: Variant, _ purpose: RunPurpose, sources: Int) {
    measurement = VariantMeasurement(variant, purpose)
    self.sources = sources
  }

  /// - Parameter now: seconds since the start of the process, here and below.
  mutating func receive(_ message: VariantMessage, at now: Double) {
    hasReported = true
    switch message {
    // Threads of the process report counts independently of each other, so older ones may arrive later.
    case .counts(let counts):
      if counts.processed >= self.counts.processed { self.counts = counts }
      if counts.submitted >= sources, measurement.producerSeconds == nil { measurement.producerSeconds = now }
    case .toldToStop(let counts): (countsAtStop, hasNoticedStop) = (counts, true)
    case .listed(let operations):
      guard let asked = measurement.stop?.listSentAfterSeconds else { return }
      measurement.stop?.listedOperations = operations
      measurement.stop?.answerSeconds = now - asked
    case .traits(let traits): measurement.traits = traits
    case .failed(let failure):
      if measurement.failures.count < VariantReporter.maxFailures { measurement.failures.append(failure) }
    case .gaveUp(let reason): reasonToGiveUp = reason
    case .ended(let peakBytes): measurement.peakRssBytes = max(measurement.peakRssBytes, peakBytes)
    }
  }

  /// Takes a sample.
  ///
  /// - Parameters:
  ///   - status: the process, as the kernel reports it.
  ///   - names: the names of its threads; called where there are more of them than ever before.
  /// - Returns: nil if the process has already ended.
  mutating func sample(_ status: ProcessStatus?, names: () -> [String: Int], at now: Double) -> Sample? {
    guard let memory = status?.memory, let threads = status?.threads else { return nil }
    measurement.peakRssBytes = max(measurement.peakRssBytes, memory.peakResident)
    measurement.peakAnonymousBytes = max(measurement.peakAnonymousBytes, memory.anonymous)
    if threads > measurement.peakThreads {
      measurement.peakThreads = threads
      measurement.peakThreadNames = names()
    }
    let sample = Sample(
      seconds: now, rssBytes: memory.resident, anonymousBytes: memory.anonymous, threads: threads, counts: counts)
    measurement.samples.append(sample)
    return sample
  }

  /// The signal to send now, if any; each is returned once.
  mutating func dueSignal(at now: Double) -> CInt? {
    guard let stop = measurement.stop, stop.stopSentAfterSeconds == nil else { return nil }
    if let asked = stop.listSentAfterSeconds {
      guard stop.listedOperations != nil || now >= asked + Self.answerSeconds else { return nil }
      measurement.stop?.stopSentAfterSeconds = now
      countsAtStop = counts
      return Self.stopSignal
    }
    let isUnderWay = counts.done * Self.listShare >= sources || now >= Self.listAfterSeconds
    guard hasReported, isUnderWay else { return nil }
    measurement.stop?.listSentAfterSeconds = now
    return Self.listSignal
  }

  /// The measurement, once the process has ended.
  mutating func finish(
    _ ending: ChildProcess.Ending, at now: Double, processorSeconds: Double, in cage: MemoryCage?
  ) -> VariantMeasurement {
    (measurement.seconds, measurement.processorSeconds) = (now, processorSeconds)
    // The last counts may be newer than the last sample.
    if let last = measurement.samples.last {
      measurement.samples.append(
        Sample(
          seconds: now, rssBytes: last.rssBytes, anonymousBytes: last.anonymousBytes, threads: last.threads,
          counts: counts))
    }
    (measurement.thumbnails, measurement.failed) = (counts.done, counts.failed)
    (measurement.peakWaiting, measurement.peakRunning) = (counts.peakWaiting, counts.peakRunning)
    switch ending {
    case .exited(let status):
      measurement.exitStatus = status
      let isTold = measurement.stop?.stopSentAfterSeconds != nil
      measurement.ending = isTold && counts.processed < sources ? .stopped : status <= 1 ? .finished : .failed
      // A process that ends by itself without noticing the signal was about to end when the signal was sent.
      if !hasNoticedStop { countsAtStop = counts }
    case .signalled(let signal):
      measurement.signal = signal
      measurement.ending = Self.ending(by: signal, in: cage)
    }
    if let stopped = measurement.stop?.stopSentAfterSeconds {
      measurement.stop?.secondsToEnd = now - stopped
      measurement.stop?.thumbnailsMadeMeanwhile = counts.done - countsAtStop.done
      measurement.stop?.waitingAtStop = countsAtStop.waiting
      measurement.stop?.runningAtStop = countsAtStop.running
      measurement.stop?.wasDoneBefore = measurement.ending == .finished && countsAtStop.processed == counts.processed
    }
    return measurement
  }

  private static func ending(by signal: Int, in cage: MemoryCage?) -> Ending {
    guard let cage else { return .signalled }
    let isKill = signal == Int(SIGKILL)
    if cage.kind == .addressSpace { return isKill ? .signalled : .outOfAddressSpace }
    return isKill && cage.kills > 0 ? .killedForMemory : .signalled
  }
}

extension Sample {
  fileprivate init(seconds: Double, rssBytes: Int, anonymousBytes: Int, threads: Int, counts: VariantCounts) {
    self.init(
      seconds: seconds, rssBytes: rssBytes, anonymousBytes: anonymousBytes, threads: threads, waiting: counts.waiting,
      running: counts.running, done: counts.done)
  }
}
