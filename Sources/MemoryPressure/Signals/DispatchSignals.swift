import Files

#if canImport(Darwin)
import Dispatch

/// The Dispatch memory pressure events of Apple systems. They go through a pipe, so that the monitor can poll them.
final class DispatchSignals: PressureSignalProvider {
  static let name = PressureSignalChoice.dispatch

  let explanation = "the system's memory pressure events"
  let watches: [PressureWatch]
  private let sources: [any DispatchSourceMemoryPressure]

  private init(_ watches: [PressureWatch], _ sources: [any DispatchSourceMemoryPressure]) {
    (self.watches, self.sources) = (watches, sources)
  }

  deinit { for source in sources { source.cancel() } }

  static func open(in surroundings: Surroundings, under limit: MemoryLimit) -> PressureSignalAvailability {
    do throws(SystemError) {
      let pipes = [try WakePipe(), try WakePipe()]
      let sources = zip(pipes, [DispatchSource.MemoryPressureEvent.warning, .critical]).map { pipe, event in
        let source = DispatchSource.makeMemoryPressureSource(eventMask: event)
        source.setEventHandler { pipe.wake() }
        source.activate()
        return source
      }
      return .usable(DispatchSignals(pipes.map { .reading($0.reader) }, sources))
    } catch {
      return .unusable("\(error)")
    }
  }

  func handle(_ watch: PressureWatch, at place: Int, found: Int16, share: Double) -> PressureReading {
    guard watch.descriptor.discard().any else { return .nothing }
    return .signal(signal(place == 0 ? .warning : .critical, "the system reports memory pressure"))
  }
}
#endif
