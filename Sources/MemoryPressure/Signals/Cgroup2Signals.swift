import Files

/// The signals of the process's cgroup, version 2: its memory stalls, and how often it reached its limits.
///
/// *Source*: the kernel's cgroup-v2 document, `memory.pressure` and `memory.events`.
final class Cgroup2Signals: PressureSignalProvider {
  static let name = PressureSignalChoice.cgroup2

  let explanation: String
  let watches: [PressureWatch]
  private let folder: String
  private let limit: MemoryLimit
  private let surroundings: Surroundings
  private let events: CounterFile?
  private var counts: Counts

  private struct Counts {
    var high = 0
    var max = 0
    var oom = 0

    init() {}

    /// Nil if the file cannot be read.
    init?(_ file: CounterFile) {
      guard file.refresh() else { return nil }
      high = file.number(after: "high") ?? 0
      max = file.number(after: "max") ?? 0
      oom = file.number(after: "oom") ?? 0
    }
  }

  private init(
    _ folder: String, under limit: MemoryLimit, in surroundings: Surroundings, _ watches: [PressureWatch],
    _ events: CounterFile?
  ) {
    (self.folder, self.limit, self.surroundings) = (folder, limit, surroundings)
    (self.watches, self.events) = (watches, events)
    counts = events.flatMap(Counts.init) ?? Counts()
    let what = [watches.isEmpty ? nil : "stalls", events == nil ? nil : "limit events"].compactMap(\.self)
    explanation = "\(what.joined(separator: " and ")) of the group \(folder)"
  }

  static func open(in surroundings: Surroundings, under limit: MemoryLimit) -> PressureSignalAvailability {
    guard let own = ControlGroups.find(.v2, in: surroundings)?.folders.first else {
      return .unusable("no cgroup hierarchy of version 2 is mounted")
    }
    // Every group except the machine's topmost one has this file. The top group that a container sees has it too.
    guard surroundings.exists("\(own)/cgroup.events") else {
      return .unusable("the process is in the topmost group, \(own), whose stalls are those of the whole machine")
    }
    // The group that sets the limit counts how often it was reached. Without such a group there is nothing to count.
    var events: CounterFile?
    if case .cgroup2(let folder) = limit.origin {
      events = try? CounterFile("\(surroundings.root)\(folder)/memory.events")
    }
    do throws(SystemError) {
      var watches: [PressureWatch] = []
      for trigger in StallTrigger.both {
        watches.append(try trigger.watch("\(surroundings.root)\(own)/memory.pressure"))
      }
      return .usable(Cgroup2Signals(own, under: limit, in: surroundings, watches, events))
    } catch {
      if events != nil { return .usable(Cgroup2Signals(own, under: limit, in: surroundings, [], events)) }
      return .unusable("the kernel does not report stalls of the group: \(error)")
    }
  }

  func handle(_ watch: PressureWatch, at place: Int, found: Int16, share: Double) -> PressureReading {
    if PressureWatch.isGone(found) { return .gone("\(folder)/memory.pressure is gone") }
    let trigger = StallTrigger.both[place]
    return reading(trigger.level, trigger.reason, share: share, under: limit, in: surroundings)
  }

  func sample(usage: MemoryUsage, share: Double) -> PressureSignal? {
    guard let events else { return nil }
    guard let now = Counts(events) else { return nil }
    let before = counts
    counts = now
    if now.oom > before.oom {
      return signal(.critical, "the limit was reached and nothing could be freed", count: now.oom - before.oom)
    }
    // Below this share the events are ignored: the page cache grows up to the limit whenever many files are read.
    guard share >= Self.significantShare else { return nil }
    if now.max > before.max {
      return signal(.critical, "the limit was reached (memory.max)", count: now.max - before.max)
    }
    if now.high > before.high {
      return signal(.warning, "the group was slowed down at its limit (memory.high)", count: now.high - before.high)
    }
    return nil
  }
}
