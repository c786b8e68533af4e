import CLinux
import Files
import Foundation

/// One variant in a process of its own: starts it, collects samples and messages, and sends signals.
///
/// *Concurrency*: ``measure(in:onSample:)`` once; ``kill()`` from any thread at any time.
public final class VariantRun: Sendable {
  public let variant: Variant
  private let child: ChildProcess
  private let messages: Descriptor
  private let purpose: RunPurpose
  private let sources: Int
  private let start = ContinuousClock.now

  /// Starts the process. It reads the list of sources from its standard input, and writes messages to its standard
  /// output.
  ///
  /// - Parameters:
  ///   - arguments: the arguments that make this program the variant, as bytes.
  ///   - list: the descriptor of the list.
  ///   - sources: the number of sources in the list.
  public init(
    _ variant: Variant, _ purpose: RunPurpose, arguments: [[UInt8]], list: CInt, sources: Int
  ) throws(VariantRunError) {
    self.variant = variant
    (self.purpose, self.sources) = (purpose, sources)
    var ends: [CInt] = [-1, -1]
    guard pipe2(&ends, O_CLOEXEC) == 0 else { throw .system("cannot make a pipe: \(systemText(errno))") }
    defer { close(ends[1]) }
    messages = Descriptor(ends[0])
    do { child = try ChildProcess(arguments, input: list, output: ends[1]) } catch {
      throw .system("cannot start a process: \(error)")
    }
  }

  /// Kills the process; ``measure(in:onSample:)`` then returns as after any other signal.
  public func kill() { child.kill(SIGKILL) }

  /// Measures the process until it has ended.
  ///
  /// - Parameters:
  ///   - cage: the limit on its memory.
  ///   - onSample: called with each sample, every 50 ms.
  /// - Throws: ``VariantRunError``; the process has ended by then.
  public func measure(
    in cage: MemoryCage?, onSample: (Sample) -> Void
  ) throws(VariantRunError) -> VariantMeasurement {
    var record = VariantRecord(variant, purpose, sources: sources)
    let interval = VariantReporter.interval / .seconds(1)
    var nextSample = 0.0
    var reader = MessageReader(messages.number)
    while true {
      do throws(Errno) {
        guard let messages = try reader.read(within: max(0, nextSample - elapsed)) else { break }
        for message in messages { record.receive(message, at: elapsed) }
      } catch {
        kill()
        _ = child.wait()
        throw .system("cannot read the messages of a process: \(error)")
      }
      if elapsed >= nextSample {
        let status = ProcessStatus(of: Int(child.id))
        if let sample = record.sample(status, names: threadNames, at: elapsed) { onSample(sample) }
        nextSample = max(nextSample + interval, elapsed)
      }
      if let signal = record.dueSignal(at: elapsed) { child.kill(signal) }
    }
    let (ending, processorSeconds) = child.wait()
    if let reason = record.reasonToGiveUp, case .exited(let status) = ending {
      throw .gaveUp(reason, status: status)
    }
    return record.finish(ending, at: elapsed, processorSeconds: processorSeconds, in: cage)
  }

  /// The names of the process's threads, and how many have each: `main`, and `unnamed` for those that only have the name of
  /// the program. Dispatch names its threads after their queues, of which the kernel keeps the last 15 letters.
  ///
  /// *Source*: proc_pid_task(5), comm.
  private func threadNames() -> [String: Int] {
    let folder = "/proc/\(child.id)/task"
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    func name(_ thread: String) -> String? {
      let text = try? String(contentsOfFile: "\(folder)/\(thread)/comm", encoding: .utf8)
      return text?.trimmingCharacters(in: .newlines)
    }
    let main = "\(child.id)"
    let program = name(main)
    return threads.reduce(into: [:]) { names, thread in
      guard let name = name(thread) else { return }
      names[thread == main ? "main" : name == program ? "unnamed" : name, default: 0] += 1
    }
  }

  /// Seconds since the start.
  private var elapsed: Double { (ContinuousClock.now - start) / .seconds(1) }
}

/// A variant's run could not be measured.
public enum VariantRunError: Error {
  /// The system could not start the process, or not read its messages.
  case system(String)
  /// The variant could not do its work: the reason it reported, and its exit status.
  case gaveUp(String, status: Int)
}
