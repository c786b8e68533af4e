import Foundation

/// The status of a process, from the kernel's `/proc/PID/status`.
///
/// *Source*: proc_pid_status(5).
package struct ProcessStatus {
  /// The memory of a process, in bytes.
  package struct Memory: Equatable, Sendable {
    package let resident: Int
    /// The part of `resident` that no file backs. The rest is mostly the program, for which a cgroup is charged only
    /// once.
    package let anonymous: Int
    /// The part of `resident` that is shared with other processes through no file on a disk; 0 before Linux 4.5.
    package let shared: Int
    /// The most resident memory since the program began.
    package let peakResident: Int
    /// The mapped address space.
    package let mapped: Int
  }

  private var fields: [Substring: Substring] = [:]

  /// Nil if the process does not exist, or the system has no `/proc`.
  ///
  /// - Parameters:
  ///   - process: its id; nil for this process.
  ///   - root: the folder that contains `proc`, for tests.
  package init?(of process: Int? = nil, root: String = "") {
    let path = "\(root)/proc/\(process.map { "\($0)" } ?? "self")/status"
    guard let file = try? Descriptor.open(path, O_RDONLY), let bytes = try? readAll(from: file.number) else {
      return nil
    }
    for line in Substring(decoding: bytes, as: UTF8.self).fields("\n") {
      guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { continue }
      fields[line[..<colon]] = line[colon...].dropFirst().drop { $0 == "\t" || $0 == " " }
    }
  }

  /// The peak of the resident memory of this process, in bytes; 0 if the system does not report it.
  package static var peakResident: Int {
    #if canImport(Glibc)
    // Not getrusage(2): on Linux its value survives exec and may be that of the parent process.
    return ProcessStatus()?.peakResident ?? 0
    #else
    var usage = rusage()
    getrusage(RUSAGE_SELF, &usage)
    return usage.ru_maxrss
    #endif
  }

  /// Nil for a process that has ended but has not been waited for.
  package var memory: Memory? {
    guard let resident = bytes("VmRSS"), let anonymous = bytes("RssAnon"), let peakResident,
      let mapped = bytes("VmSize")
    else { return nil }
    return Memory(
      resident: resident, anonymous: anonymous, shared: bytes("RssShmem") ?? 0, peakResident: peakResident,
      mapped: mapped)
  }

  /// The most resident memory since the program began, in bytes. Some kernels report it without the other fields of
  /// `memory`.
  package var peakResident: Int? { bytes("VmHWM") }

  package var threads: Int? { number("Threads") }

  /// Whether a signal (Ctrl-Z) or a debugger has stopped it.
  package var isStopped: Bool { fields["State"]?.first == "T" || fields["State"]?.first == "t" }

  /// The number of processors that it may run on, by its affinity and the cpuset of its cgroup; nil if the kernel does
  /// not report it. Processors that are offline may be counted.
  package var allowedProcessors: Int? {
    let bits = (fields["Cpus_allowed"] ?? "").compactMap(\.hexDigitValue).reduce(0) { $0 + $1.nonzeroBitCount }
    return bits > 0 ? bits : nil
  }

  /// The kernel reports KiB, and calls them `kB`.
  private func bytes(_ name: Substring) -> Int? { number(name).map { $0 << 10 } }

  private func number(_ name: Substring) -> Int? {
    fields[name]?.fields(" ").first.flatMap { Int($0) }
  }
}
