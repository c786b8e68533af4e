import Files
import Foundation

#if os(Linux)
import CLinux
#endif

/// The signals of the process's cgroup, version 1: the kernel's pressure levels of the group, if the process may
/// register for them. The memory of the group is compared with its limit in any case, by ``UsageSignals``.
///
/// *Source*: the kernel's cgroup-v1/memory document, section 11, "Memory Pressure". The level `low` is not used,
/// because merely reading many files causes it.
final class Cgroup1Signals: PressureSignalProvider {
  static let name = PressureSignalChoice.cgroup1
  private static let levels: [(name: String, level: PressureLevel)] = [("medium", .warning), ("critical", .critical)]

  let explanation: String
  let watches: [PressureWatch]
  private let limit: MemoryLimit
  private let surroundings: Surroundings

  private init(
    _ folder: String, under limit: MemoryLimit, in surroundings: Surroundings, _ watches: [PressureWatch],
    withoutLevels problem: String?
  ) {
    (self.limit, self.surroundings, self.watches) = (limit, surroundings, watches)
    let levels = problem.map { "without its pressure levels (\($0))" } ?? "and its pressure levels"
    explanation = "the memory of the group \(folder) compared with its limit, \(levels)"
  }

  static func open(in surroundings: Surroundings, under limit: MemoryLimit) -> PressureSignalAvailability {
    guard case .cgroup1(let folder) = limit.origin else {
      return .unusable("no cgroup of version 1 sets the limit, which is \(limit)")
    }
    do throws(SystemError) {
      let place = surroundings.root + folder
      var watches: [PressureWatch] = []
      for level in levels { watches.append(try register(level.name, in: place)) }
      return .usable(Cgroup1Signals(folder, under: limit, in: surroundings, watches, withoutLevels: nil))
    } catch {
      return .usable(Cgroup1Signals(folder, under: limit, in: surroundings, [], withoutLevels: "\(error)"))
    }
  }

  func handle(_ watch: PressureWatch, at place: Int, found: Int16, share: Double) -> PressureReading {
    if PressureWatch.isGone(found) { return .gone("the group is gone") }
    // One read returns the whole count and resets it; there can be hundreds of events per second.
    var count: UInt64 = 0
    guard read(watch.descriptor.number, &count, 8) == 8, count > 0 else { return .nothing }
    let (name, level) = Self.levels[place]
    let reason = "the kernel reports \(name) memory pressure"
    return reading(level, reason, share: share, under: limit, in: surroundings, count: Int(clamping: count))
  }

  /// Registers a counter that the kernel increments at each event of a level.
  private static func register(_ level: String, in folder: String) throws(SystemError) -> PressureWatch {
    #if os(Linux)
    let (control, name) = ("\(folder)/cgroup.event_control", "\(folder)/memory.pressure_level")
    let counter = Descriptor(eventfd(0, CInt(EFD_NONBLOCK | EFD_CLOEXEC)))
    guard counter.number >= 0 else { throw SystemError("eventfd") }
    let pressure = try Descriptor.open(name, O_RDONLY)
    let request = "\(counter.number) \(pressure.number) \(level)"
    guard try Descriptor.open(control, O_WRONLY).write(Array(request.utf8)) else { throw SystemError(control) }
    return .reading(counter)
    #else
    errno = ENOTSUP
    throw SystemError(folder)
    #endif
  }
}
