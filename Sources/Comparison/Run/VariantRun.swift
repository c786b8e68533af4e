import CLinux
import Files
import Foundation

/// One variant, carried through in a process of its own and watched from here.
///
/// *Concurrency*: ``measure(onSample:)`` once; ``end()`` from any thread at any time.
public final class VariantRun: Sendable {
  /// When a variant is told to stop: once a tenth of the sources are done, or a second after its start.
  private static let stopShare = 10
  private static let stopSeconds = 1.0
  /// How long an answer to USR1 is waited for before USR2 is sent.
  private static let answerSeconds = 0.25

  public enum Problem: Error {
    /// The system does not give what it takes to start a process and to watch it.
    case system(String)
    /// The variant's own words for why it gave up, and its exit status.
    case gaveUp(String, status: Int)
  }

  public let variant: Variant
  private let child: ChildProcess
  private let pipe: CInt
  private let sources: Int
  private let isToldToStop: Bool
  private let begin = ContinuousClock.now

  /// Starts the process. It finds the list at descriptor 3 and is to write what it has to say to descriptor 4.
  ///
  /// - Parameters:
  ///   - arguments: the command line that makes this program the variant, in bytes.
  ///   - list: the sources.
  ///   - sources: how many there are.
  ///   - isToldToStop: whether it is told to stop on the way.
  public init(
    _ variant: Variant, arguments: [[UInt8]], list: CInt, sources: Int, isToldToStop: Bool
  ) throws(Problem) {
    self.variant = variant
    (self.sources, self.isToldToStop) = (sources, isToldToStop)
    var ends: [CInt] = [-1, -1]
    guard pipe2(&ends, O_CLOEXEC) == 0 else { throw .system("cannot make a pipe: \(String(cString: strerror(errno)))") }
    defer { close(ends[1]) }
    pipe = ends[0]
    do {
      child = try ChildProcess(arguments, descriptors: [list, ends[1]])
    } catch {
      close(ends[0])
      throw .system("\(error)")
    }
  }

  deinit { close(pipe) }

  /// Kills the process; `measure` then returns as for any other that is killed.
  public func end() { child.kill(SIGKILL) }

  /// Watches the process until it has ended.
  ///
  /// - Parameter cage: what limits it.
  /// - Throws: ``Problem``; the process has ended then, too.
  public func measure(in cage: MemoryCage?, onSample: (Sample) -> Void) throws(Problem) -> VariantMeasurement {
    var watch = Watch(VariantMeasurement(variant), sources: sources)
    if isToldToStop { watch.measurement.stop = StopMeasurement() }
    let interval = VariantReporter.interval / .seconds(1)
    var next = 0.0
    var lines = LineReader(pipe)
    while true {
      let now = elapsed
      do throws(Problem) {
        if try !lines.read(within: max(0, next - now), { watch.heard($0, at: elapsed) }) { break }
      } catch {
        end()
        _ = child.wait()
        throw error
      }
      if elapsed >= next {
        if let sample = watch.look(ProcessStatus(of: Int(child.id)), at: elapsed) { onSample(sample) }
        next = max(next + interval, elapsed)
      }
      if isToldToStop { tell(&watch) }
    }
    let end = child.wait()
    if let problem = watch.problem, case .exited(let status) = end {
      throw .gaveUp(problem, status: status)
    }
    watch.ended(end, at: elapsed, in: cage)
    return watch.measurement
  }

  private var elapsed: Double { (ContinuousClock.now - begin) / .seconds(1) }

  private func tell(_ watch: inout Watch) {
    let now = elapsed
    guard let stop = watch.measurement.stop else { return }
    if let asked = stop.listSentAfterSeconds {
      let isAnswered = stop.listedOperations != nil || now >= asked + Self.answerSeconds
      guard stop.stopSentAfterSeconds == nil, isAnswered else { return }
      watch.measurement.stop?.stopSentAfterSeconds = now
      watch.doneWhenTold = watch.counts.done
      child.kill(SIGUSR2)
    } else if watch.hasBegun, watch.counts.done * Self.stopShare >= sources || now >= Self.stopSeconds {
      watch.measurement.stop?.listSentAfterSeconds = now
      child.kill(SIGUSR1)
    }
  }
}

/// What is known of a process so far.
private struct Watch {
  var measurement: VariantMeasurement
  var counts = VariantCounts()
  var doneWhenTold = 0
  /// Whether it has said anything: before that it might not hold its signals back yet.
  var hasBegun = false
  var problem: String?
  private let sources: Int

  init(_ measurement: VariantMeasurement, sources: Int) { (self.measurement, self.sources) = (measurement, sources) }

  mutating func heard(_ message: VariantMessage, at now: Double) {
    hasBegun = true
    switch message {
    case .counts(let counts): self.counts = counts
    case .listed(let operations):
      guard var stop = measurement.stop, let asked = stop.listSentAfterSeconds else { return }
      (stop.listedOperations, stop.answerSeconds) = (operations, now - asked)
      measurement.stop = stop
    case .bounds(let backlog, let budget): (measurement.backlog, measurement.budgetBytes) = (backlog, budget)
    case .failure(let failure): measurement.failures.append(failure)
    case .ended(let peak): measurement.peakRssBytes = max(measurement.peakRssBytes, peak)
    case .problem(let text): problem = text
    }
  }

  mutating func look(_ status: ProcessStatus?, at now: Double) -> Sample? {
    guard let memory = status?.memory, let threads = status?.threads else { return nil }
    measurement.peakRssBytes = max(measurement.peakRssBytes, memory.peakResident)
    measurement.peakAnonymousBytes = max(measurement.peakAnonymousBytes, memory.anonymous)
    measurement.peakThreads = max(measurement.peakThreads, threads)
    let sample = Sample(
      seconds: now, rssBytes: memory.resident, anonymousBytes: memory.anonymous, threads: threads,
      waiting: counts.waiting, running: counts.running, done: counts.done)
    measurement.samples.append(sample)
    return sample
  }

  mutating func ended(_ end: ChildProcess.End, at now: Double, in cage: MemoryCage?) {
    measurement.seconds = now
    if let last = measurement.samples.last {
      // Where it has come to, which is what it said last: no look fell on that moment.
      let sample = Sample(
        seconds: now, rssBytes: last.rssBytes, anonymousBytes: last.anonymousBytes, threads: last.threads,
        waiting: counts.waiting, running: counts.running, done: counts.done)
      measurement.samples.append(sample)
    }
    (measurement.thumbnails, measurement.failed) = (counts.done, counts.failed)
    (measurement.peakWaiting, measurement.peakRunning) = (counts.peakWaiting, counts.peakRunning)
    if let told = measurement.stop?.stopSentAfterSeconds {
      measurement.stop?.secondsToEnd = now - told
      measurement.stop?.thumbnailsMadeMeanwhile = counts.done - doneWhenTold
    }
    switch end {
    case .exited(let status):
      measurement.exitStatus = status
      let isTold = measurement.stop?.stopSentAfterSeconds != nil && measurement.variant != .naive
      let isCutShort = isTold && counts.done + counts.failed < sources
      measurement.ending = isCutShort ? .stopped : status <= 1 ? .finished : .failed
    case .signalled(let signal):
      measurement.signal = signal
      measurement.ending = Self.ending(by: signal, in: cage)
    }
  }

  private static func ending(by signal: Int, in cage: MemoryCage?) -> Ending {
    guard let cage else { return .signalled }
    let isKill = signal == Int(SIGKILL)
    if cage.kind == .addressSpace { return isKill ? .signalled : .outOfAddressSpace }
    return isKill && cage.kills > 0 ? .killedForMemory : .signalled
  }
}

/// Messages out of a pipe.
private struct LineReader {
  private let descriptor: CInt
  private var rest: [UInt8] = []

  init(_ descriptor: CInt) { self.descriptor = descriptor }

  private static var problem: VariantRun.Problem {
    .system("cannot hear of a process: \(String(cString: strerror(errno)))")
  }

  /// Hands over what comes within a time.
  ///
  /// - Returns: false when the other end is closed.
  /// - Throws: ``VariantRun/Problem/system(_:)``.
  mutating func read(
    within seconds: Double, _ body: (VariantMessage) -> Void
  ) throws(VariantRun.Problem) -> Bool {
    var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let ready = poll(&wanted, 1, CInt((seconds * 1000).rounded(.up)))
    // After EINTR the caller waits again, for what is left of its time.
    if ready < 0 && errno != EINTR { throw Self.problem }
    guard ready > 0 else { return true }
    var buffer = [UInt8](repeating: 0, count: 1 << 14)
    let count = buffer.withUnsafeMutableBytes { bytes in
      retryOnInterrupt { Foundation.read(descriptor, bytes.baseAddress, bytes.count) }
    }
    if count < 0 { throw Self.problem }
    if count == 0 { return false }
    rest += buffer[..<count]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      if let message = VariantMessage(line: String(decoding: rest[..<end], as: UTF8.self)) { body(message) }
      rest.removeSubrange(...end)
    }
    return true
  }
}
