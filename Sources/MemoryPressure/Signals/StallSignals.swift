import Files

/// The memory stalls of the whole machine. This process need not be their cause. A stall of all threads is therefore
/// critical only if the process uses a large share of its limit, and a warning otherwise.
final class StallSignals: PressureSignalProvider {
  static let name = PressureSignalChoice.psi
  static let path = "/proc/pressure/memory"

  let explanation = "stalls of the whole machine, from \(path)"
  let watches: [PressureWatch]
  private let surroundings: Surroundings

  private init(_ surroundings: Surroundings, watches: [PressureWatch]) {
    (self.surroundings, self.watches) = (surroundings, watches)
  }

  static func open(in surroundings: Surroundings, under limit: MemoryLimit) -> PressureSignalAvailability {
    do throws(SystemError) {
      var watches: [PressureWatch] = []
      for trigger in StallTrigger.both { watches.append(try trigger.watch(surroundings.root + path)) }
      return .usable(StallSignals(surroundings, watches: watches))
    } catch {
      return .unusable("the kernel reports no stalls here: \(error)")
    }
  }

  func handle(_ watch: PressureWatch, at place: Int, found: Int16, share: Double) -> PressureReading {
    if PressureWatch.isGone(found) { return .gone("\(Self.path) is gone") }
    let trigger = StallTrigger.both[place]
    return machineReading(trigger.level, trigger.reason, share: share, in: surroundings)
  }
}
