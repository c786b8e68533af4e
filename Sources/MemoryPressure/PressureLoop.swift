import Foundation

/// What the monitor's thread does: waits for its sources, looks at the memory held, and tells what the gauge makes of it.
///
/// *Concurrency*: made by one thread, then only touched by its own. What it shares is ``PressureState`` and the pipe.
final class PressureLoop: @unchecked Sendable {  // handed over whole, see above
  private typealias Instant = ContinuousClock.Instant

  /// One descriptor that is waited for.
  private struct Place {
    let source: any PressureSource
    let index: Int
    /// Until then it is left alone, because it spoke just now: what comes in a flood is taken in at once.
    var restsUntil: Instant?
  }

  private var sources: [any PressureSource]
  private let usage: UsageReader
  private let limit: MemoryLimit
  private let rules: PressureRules
  private let wakePipe: WakePipe
  private let state: PressureState
  private let handler: @Sendable (PressureEvent) -> Void

  private var gauge: PressureGauge
  private var places: [Place]
  /// Filled anew for each wait: the pipe, then the places that are not at rest, whose numbers are in `polledPlaces`.
  private var polled: [pollfd] = []
  private var polledPlaces: [Int] = []
  private var share = 0.0

  init(
    sources: [any PressureSource], usage: UsageReader, limit: MemoryLimit, rules: PressureRules, wakePipe: WakePipe,
    state: PressureState, handler: @escaping @Sendable (PressureEvent) -> Void
  ) {
    (self.sources, self.usage, self.limit, self.rules) = (sources, usage, limit, rules)
    (self.wakePipe, self.state, self.handler) = (wakePipe, state, handler)
    gauge = PressureGauge(rules: rules)
    places = sources.flatMap { source in source.watches.indices.map { Place(source: source, index: $0) } }
  }

  func run() {
    var nextLook = Instant.now
    while !state.isStopped {
      if .now >= nextLook {
        look()
        nextLook = .now + rules.sampling
      }
      if wait(until: nextLook) { takeWhatIsReady() }
    }
    (sources, places) = ([], [])
    var used = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used)
    state.end(.seconds(used.tv_sec) + .nanoseconds(used.tv_nsec))
  }

  private func look() {
    let held = usage.read()
    share = held.share(of: limit)
    state.set(held)
    for source in sources {
      guard let signal = source.sample(usage: held, share: share) else { continue }
      tell(gauge.note(signal, at: .now))
    }
    tell(gauge.settle(share: share, at: .now))
  }

  /// Whether something may be ready. Wakes as well when a place has rested.
  private func wait(until nextLook: Instant) -> Bool {
    let now = Instant.now
    var end = nextLook
    polled.removeAll(keepingCapacity: true)
    polledPlaces.removeAll(keepingCapacity: true)
    polled.append(pollfd(fd: wakePipe.reader.number, events: Int16(POLLIN), revents: 0))
    for index in places.indices {
      if let rested = places[index].restsUntil, rested > now {
        end = min(end, rested)
        continue
      }
      let watch = places[index].source.watches[places[index].index]
      polled.append(pollfd(fd: watch.descriptor.number, events: watch.events, revents: 0))
      polledPlaces.append(index)
    }
    // Rounded up: a wait of less than a millisecond would otherwise be none at all, again and again.
    let milliseconds = max(0, ((end - now) / .milliseconds(1)).rounded(.up))
    let count = poll(&polled, nfds_t(polled.count), CInt(min(milliseconds, 3_600_000)))
    // Most likely out of memory: a pause, so that it does not spin. After EINTR the caller waits again, until the same time.
    if count < 0, errno != EINTR { usleep(10_000) }
    return count > 0
  }

  private func takeWhatIsReady() {
    var lost: [(source: any PressureSource, reason: String)] = []
    for (offset, index) in polledPlaces.enumerated() {
      let found = polled[offset + 1].revents
      let (source, place) = (places[index].source, places[index].index)
      guard found != 0, !state.isStopped, !lost.contains(where: { $0.source === source }) else { continue }
      let now = Instant.now
      places[index].restsUntil = now + rules.coalescing
      switch source.take(source.watches[place], at: place, found: found, share: share) {
      case .nothing: break
      case .signal(let signal): tell(gauge.note(signal, at: now))
      case .gone(let reason): lost.append((source, reason))
      }
    }
    for (source, reason) in lost {
      sources.removeAll { $0 === source }
      places.removeAll { $0.source === source }
      tell(.sourceLost(PressureCause(source: type(of: source).name, reason: reason)))
    }
  }

  private func tell(_ event: PressureEvent?) {
    guard let event, state.take(event) else { return }
    handler(event)
  }
}
