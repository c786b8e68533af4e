import Foundation

/// The loop of the monitor's thread: waits for signals, samples the memory in use, and emits the events of the gauge.
///
/// *Concurrency*: not for several threads. With other threads it shares only ``PressureState`` and the pipe.
struct PressureLoop {
  private typealias Instant = ContinuousClock.Instant

  /// One descriptor to poll.
  private struct Place {
    let provider: any PressureSignalProvider
    let index: Int
    /// Not polled before this time, because it has just been ready. One read then handles a flood of signals.
    var restsUntil: Instant?
  }

  /// Signals that are opened some time after the start.
  struct DeferredSignals {
    let time: ContinuousClock.Instant
    let open: () -> PressureSignalSelection
    let onOpening: @Sendable ([PressureSignalReport]) -> Void
  }

  private var providers: [any PressureSignalProvider]
  /// Signals to open later; nil once they are open.
  private var later: DeferredSignals?
  private let usage: UsageReader
  private let limit: MemoryLimit
  private let rules: PressureRules
  private let wakePipe: WakePipe
  private let state: PressureState
  private let handler: @Sendable (PressureEvent) -> Void

  private var gauge: PressureGauge
  private var places: [Place]
  /// Filled for each wait: the pipe, then the places that do not rest. `polledPlaces` has the indices of these places.
  private var polled: [pollfd] = []
  private var polledPlaces: [Int] = []
  private var share = 0.0

  init(
    providers: [any PressureSignalProvider], later: DeferredSignals?, usage: UsageReader, limit: MemoryLimit,
    rules: PressureRules, wakePipe: WakePipe, state: PressureState, handler: @escaping @Sendable (PressureEvent) -> Void
  ) {
    (self.providers, self.later) = (providers, later)
    (self.usage, self.limit, self.rules) = (usage, limit, rules)
    (self.wakePipe, self.state, self.handler) = (wakePipe, state, handler)
    gauge = PressureGauge(rules: rules)
    places = providers.flatMap(Self.places)
  }

  private static func places(of provider: any PressureSignalProvider) -> [Place] {
    provider.watches.indices.map { Place(provider: provider, index: $0) }
  }

  mutating func run() {
    var nextSample = Instant.now
    while !state.isStopped {
      if .now >= nextSample {
        sample()
        if let later, .now >= later.time, !state.isStopped { open(later) }
        nextSample = .now + rules.sampling
      }
      if wait(until: nextSample) { handleReadyDescriptors() }
    }
    (providers, places) = ([], [])
    var used = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used)
    state.end(.seconds(used.tv_sec) + .nanoseconds(used.tv_nsec))
  }

  private mutating func open(_ later: DeferredSignals) {
    self.later = nil
    let selection = later.open()
    if let provider = selection.provider {
      providers.append(provider)
      places += Self.places(of: provider)
      state.set(type(of: provider).name)
    }
    if !state.isStopped { later.onOpening(selection.reports) }
  }

  private mutating func sample() {
    let held = usage.read()
    share = held.share(of: limit)
    state.set(held)
    for provider in providers {
      guard let signal = provider.sample(usage: held, share: share) else { continue }
      emit(gauge.receive(signal, at: .now))
    }
    emit(gauge.decay(share: share, at: .now))
  }

  /// Waits until a descriptor is ready, until `nextSample`, or until a place has rested; true if a descriptor may be
  /// ready.
  private mutating func wait(until nextSample: Instant) -> Bool {
    let now = Instant.now
    var end = nextSample
    polled.removeAll(keepingCapacity: true)
    polledPlaces.removeAll(keepingCapacity: true)
    polled.append(pollfd(fd: wakePipe.reader.number, events: Int16(POLLIN), revents: 0))
    for index in places.indices {
      if let rested = places[index].restsUntil, rested > now {
        end = min(end, rested)
        continue
      }
      let watch = places[index].provider.watches[places[index].index]
      polled.append(pollfd(fd: watch.descriptor.number, events: watch.events, revents: 0))
      polledPlaces.append(index)
    }
    // Rounded up, because a wait below one millisecond would otherwise become 0, and the loop would spin.
    let milliseconds = max(0, ((end - now) / .milliseconds(1)).rounded(.up))
    let count = poll(&polled, nfds_t(polled.count), CInt(min(milliseconds, 3_600_000)))
    // poll(2) most likely failed for lack of memory. The pause keeps the loop from spinning. After EINTR the caller
    // waits again, until the same time.
    if count < 0, errno != EINTR { usleep(10_000) }
    return count > 0
  }

  private mutating func handleReadyDescriptors() {
    var lost: [(provider: any PressureSignalProvider, reason: String)] = []
    for (offset, index) in polledPlaces.enumerated() {
      let found = polled[offset + 1].revents
      let (provider, place) = (places[index].provider, places[index].index)
      guard found != 0, !state.isStopped, !lost.contains(where: { $0.provider === provider }) else { continue }
      let now = Instant.now
      places[index].restsUntil = now + rules.coalescing
      switch provider.handle(provider.watches[place], at: place, found: found, share: share) {
      case .nothing: break
      case .signal(let signal): emit(gauge.receive(signal, at: now))
      case .gone(let reason): lost.append((provider, reason))
      }
    }
    for (provider, reason) in lost {
      providers.removeAll { $0 === provider }
      places.removeAll { $0.provider === provider }
      emit(.signalsLost(PressureCause(signals: type(of: provider).name, reason: reason)))
    }
  }

  private func emit(_ event: PressureEvent?) {
    guard let event, state.record(event) else { return }
    handler(event)
  }
}
