import Foundation
import MemoryPressure

/// What the kernel tells of a process. Memory is in bytes.
///
/// *Source*: proc_pid_status(5).
struct ProcessStatus: Equatable {
  let resident: Int
  /// Of that, what is not backed by files: the rest is the program itself, which no group is charged twice for.
  let anonymous: Int
  /// The most it has held since it began its program.
  let peakResident: Int
  /// Address space it has mapped.
  let mapped: Int
  let threads: Int

  /// Nil for a process that has ended, and where there is no `/proc`.
  init?(of process: pid_t) { self.init("/proc/\(process)/status") }

  static var own: ProcessStatus? { ProcessStatus("/proc/self/status") }

  private init?(_ path: String) {
    var numbers: [Substring: Int] = [:]
    for line in Surroundings().lines(path) {
      let words = line.split { $0 == ":" || $0 == "\t" || $0 == " " }
      if words.count > 1, let number = Int(words[1]) { numbers[words[0]] = number }
    }
    guard let resident = numbers["VmRSS"], let peak = numbers["VmHWM"], let mapped = numbers["VmSize"],
      let anonymous = numbers["RssAnon"], let threads = numbers["Threads"]
    else { return nil }
    (self.resident, peakResident, self.mapped) = (resident << 10, peak << 10, mapped << 10)
    (self.anonymous, self.threads) = (anonymous << 10, threads)
  }
}
