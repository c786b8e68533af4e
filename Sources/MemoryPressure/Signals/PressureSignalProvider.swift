import Files
import Foundation

/// A provider of memory pressure signals. They come from descriptors that become ready, or from regular samples.
///
/// *Concurrency*: opened on one thread, then used only on the monitor's thread.
protocol PressureSignalProvider: AnyObject {
  static var name: PressureSignalChoice { get }

  /// Opens the provider, or explains why it cannot be used.
  static func open(in surroundings: Surroundings, under limit: MemoryLimit) -> PressureSignalAvailability

  /// Whether the environment requests this provider.
  static func isRequested(in surroundings: Surroundings) -> Bool

  /// A one-line description of the signals, for people.
  var explanation: String { get }

  /// The descriptors to poll. They never change.
  var watches: [PressureWatch] { get }

  /// Reads a descriptor that has become ready.
  ///
  /// - Parameters:
  ///   - watch: the descriptor.
  ///   - place: the index of the descriptor in `watches`.
  ///   - found: the events that poll(2) found.
  ///   - share: the share of the limit in use.
  func handle(_ watch: PressureWatch, at place: Int, found: Int16, share: Double) -> PressureReading

  /// Takes a sample; called every ``PressureRules/sampling``.
  func sample(usage: MemoryUsage, share: Double) -> PressureSignal?
}

extension PressureSignalProvider {
  /// The share of a group's limit from which the pressure that the kernel reports counts. Below it the kernel only
  /// reclaims page cache: three processes that only read files made a group of 128 MiB stall most of the time, at
  /// critical levels, while they held only 2 MiB.
  static var significantShare: Double { 0.5 }
  /// The share of the limit above which this process is treated as a cause of the machine's pressure.
  static var largeShare: Double { 0.25 }

  static func isRequested(in surroundings: Surroundings) -> Bool { false }

  func sample(usage: MemoryUsage, share: Double) -> PressureSignal? { nil }

  /// Rates the pressure that the kernel reports by the memory in use. If a group sets the limit, the pressure is
  /// ignored while little of the limit is in use. If no group does, the pressure is rated as the machine's.
  func reading(
    _ level: PressureLevel, _ reason: String, share: Double, under limit: MemoryLimit, in surroundings: Surroundings,
    count: Int = 1
  ) -> PressureReading {
    if limit.origin == .machine {
      return machineReading(level, reason, share: share, in: surroundings, count: count)
    }
    return share >= Self.significantShare ? .signal(signal(level, reason, count: count)) : .nothing
  }

  /// Rates the pressure of the machine. It is at least a warning, even if this process holds little, because other
  /// processes hold the rest of the memory. It is ignored while more than half of the machine's memory is available:
  /// then not the machine but another group is at its limit.
  ///
  /// *Source*: GLib's memory monitor also uses half (gio/gmemorymonitorpsi.c).
  func machineReading(
    _ level: PressureLevel, _ reason: String, share: Double, in surroundings: Surroundings, count: Int = 1
  ) -> PressureReading {
    let all = surroundings.number("/proc/meminfo", after: "MemTotal:") ?? 0
    if let free = surroundings.number("/proc/meminfo", after: "MemAvailable:"), free * 2 > all { return .nothing }
    return .signal(signal(share > Self.largeShare ? level : .warning, reason, count: count))
  }

  func signal(_ level: PressureLevel, _ reason: String, count: Int = 1) -> PressureSignal {
    PressureSignal(level: level, cause: PressureCause(signals: Self.name, reason: reason), count: count)
  }
}

/// Whether a provider can be used.
enum PressureSignalAvailability {
  case usable(any PressureSignalProvider)
  case unusable(String)
  /// The environment requests that no signals are used, for this reason.
  case switchedOff(String)
}

/// A descriptor to poll, and the events of poll(2) to wait for.
struct PressureWatch {
  let descriptor: Descriptor
  let events: Int16

  static func reading(_ descriptor: Descriptor) -> PressureWatch {
    PressureWatch(descriptor: descriptor, events: Int16(POLLIN))
  }

  /// Waits for urgent data (`POLLPRI`), by which the kernel's PSI files signal; they are always readable.
  static func urgent(_ descriptor: Descriptor) -> PressureWatch {
    PressureWatch(descriptor: descriptor, events: Int16(POLLPRI))
  }

  /// Whether poll(2) reports that the descriptor can no longer become ready.
  static func isGone(_ found: Int16) -> Bool { found & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 }
}

/// The result of reading a ready descriptor.
enum PressureReading: Equatable {
  case nothing
  case signal(PressureSignal)
  /// No signal will ever come from it again, for this reason.
  case gone(String)
}
