import Foundation

/// What the kernel tells of a process.
///
/// *Source*: proc_pid_status(5).
package struct ProcessStatus {
  /// In bytes.
  package struct Memory: Equatable, Sendable {
    package let resident: Int
    /// Of that, what is not backed by files: the rest is the program itself, which no group is charged twice for.
    package let anonymous: Int
    /// The most it has held since it began its program.
    package let peakResident: Int
    /// Address space it has mapped.
    package let mapped: Int
  }

  private var fields: [Substring: Substring] = [:]

  /// Nil for a process that is no more, and where there is no `/proc`.
  ///
  /// - Parameters:
  ///   - process: its number; nil for this process.
  ///   - root: goes before `/proc`; tests put files of their own there.
  package init?(of process: Int? = nil, root: String = "") {
    let path = "\(root)/proc/\(process.map { "\($0)" } ?? "self")/status"
    guard let file = try? Descriptor.open(path, O_RDONLY), let bytes = try? readAll(from: file.number) else {
      return nil
    }
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      guard let colon = line.firstIndex(of: ":") else { continue }
      fields[line[..<colon]] = line[colon...].dropFirst().drop { $0 == "\t" || $0 == " " }
    }
  }

  /// Nil for a process that has ended and was not waited for yet.
  package var memory: Memory? {
    guard let resident = bytes("VmRSS"), let anonymous = bytes("RssAnon"), let peakResident,
      let mapped = bytes("VmSize")
    else { return nil }
    return Memory(resident: resident, anonymous: anonymous, peakResident: peakResident, mapped: mapped)
  }

  /// The most memory it has held since it began its program, in bytes. Kernels tell it that do not tell all of `memory`.
  package var peakResident: Int? { bytes("VmHWM") }

  package var threads: Int? { number("Threads") }

  /// Whether Ctrl-Z or a debugger has stopped it.
  package var isStopped: Bool { fields["State"]?.first == "T" || fields["State"]?.first == "t" }

  /// How many processors it may run on, by its affinity and the cpuset of its cgroup; nil where the kernel does not tell.
  /// The mask may count processors that are switched off.
  package var allowedProcessors: Int? {
    let bits = (fields["Cpus_allowed"] ?? "").compactMap(\.hexDigitValue).reduce(0) { $0 + $1.nonzeroBitCount }
    return bits > 0 ? bits : nil
  }

  /// Amounts are given in KiB, called `kB`.
  private func bytes(_ name: Substring) -> Int? { number(name).map { $0 << 10 } }

  private func number(_ name: Substring) -> Int? {
    fields[name]?.split(separator: " ").first.flatMap { Int($0) }
  }
}
