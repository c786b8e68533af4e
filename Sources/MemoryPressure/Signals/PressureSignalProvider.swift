import Files
import Foundation

/// Something that tells when memory is tight: by descriptors that become ready, or by being looked at again and again.
///
/// *Concurrency*: opened on one thread, then used on the monitor's alone.
protocol PressureSignalProvider: AnyObject {
  static var name: PressureSignalChoice { get }

  /// Opens the source, or says why it cannot be used.
  static func open(in surroundings: Surroundings, under limit: MemoryLimit) -> PressureSignalAvailability

  /// Whether the surroundings say that it is to be used.
  static func isRequested(in surroundings: Surroundings) -> Bool

  /// One line for people: what it listens to.
  var explanation: String { get }

  /// What to wait for; always the same.
  var watches: [PressureWatch] { get }

  /// What a descriptor means that has become ready; `share` is the share of the limit that is held.
  func handle(_ watch: PressureWatch, at place: Int, found: Int16, share: Double) -> PressureReading

  /// Has a look; called every ``PressureRules/sampling``.
  func sample(usage: MemoryUsage, share: Double) -> PressureSignal?
}

extension PressureSignalProvider {
  /// The share of a group's limit from which the kernel's trouble with freeing memory counts. Below, what it frees is page
  /// cache: three processes that do nothing but read files make a group of 128 MiB stall for most of the time, and
  /// its levels critical, while 2 MiB are held that anyone could give back.
  static var significantShare: Double { 0.5 }
  /// The share of the machine's memory from which its trouble is ours.
  static var largeShare: Double { 0.25 }

  static func isRequested(in surroundings: Surroundings) -> Bool { false }

  func sample(usage: MemoryUsage, share: Double) -> PressureSignal? { nil }

  /// What the kernel's trouble with freeing memory means, by what is held. Where a group has the limit it means nothing
  /// while little of that is held; where only the machine has one it is the machine's trouble.
  func reading(
    _ level: PressureLevel, _ reason: String, share: Double, under limit: MemoryLimit, in surroundings: Surroundings,
    count: Int = 1
  ) -> PressureReading {
    if limit.origin == .machine {
      return machineReading(level, reason, share: share, in: surroundings, count: count)
    }
    return share >= Self.significantShare ? .signal(signal(level, reason, count: count)) : .nothing
  }

  /// What the machine's trouble with freeing memory means. Others hold what this process does not, so it is a warning at
  /// least; but nothing while half of the machine's memory is to be had: then it is a group of others that is at its limit.
  ///
  /// *Source*: GLib's memory monitor draws the line at half, too.
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

enum PressureSignalAvailability {
  case usable(any PressureSignalProvider)
  case unusable(String)
  /// The user wants no source at all, which says so here.
  case switchedOff(String)
}

/// A descriptor to wait for, and the events of poll(2) that mean something on it.
struct PressureWatch {
  let descriptor: Descriptor
  let events: Int16

  static func reading(_ descriptor: Descriptor) -> PressureWatch {
    PressureWatch(descriptor: descriptor, events: Int16(POLLIN))
  }

  /// For the kernel's stall files, which always have something to read.
  static func urgent(_ descriptor: Descriptor) -> PressureWatch {
    PressureWatch(descriptor: descriptor, events: Int16(POLLPRI))
  }

  /// What poll(2) finds where there is nothing left to wait for.
  static func isGone(_ found: Int16) -> Bool { found & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 }
}

/// What a source has to say.
struct PressureSignal: Equatable {
  let level: PressureLevel
  let cause: PressureCause
  /// How many events it stands for; 0 for a state that lasts and was told before.
  let count: Int
}

enum PressureReading: Equatable {
  case nothing
  case signal(PressureSignal)
  /// There will never be anything again, for this reason.
  case gone(String)
}
