import CCurl
import Files
import Foundation
import Locking

/// Fetches sources over HTTP, several at once over a bounded number of connections.
///
/// One thread drives all transfers with libcurl. Each caller waits on its own thread for its source.
///
/// *Concurrency*: every member may be called from any thread. ``fetch(_:into:monitor:)`` blocks.
package final class Fetcher: Sendable {
  private struct State {
    /// The transfers that begin, go on, and are removed next.
    var new: [Transfer] = []
    var continued: [Transfer] = []
    var removed: [(Transfer, TimedSignal)] = []
    var isShutDown = false
  }

  private let limits: FetchLimits
  private let allowed: AllowedAddresses
  private let policy: RetryPolicy
  private let health: Locked<HostHealth>
  /// Guarded by its lock, under which libcurl is not called.
  private let state = Locked(State())
  private let loop: Loop
  let stores: Stores
  /// How long a caller waits until it looks for a cancellation.
  private static let tick = Duration.milliseconds(10)
  /// The longest time that a fetch pauses because a server asks for it, if its request leaves longer ones to the caller.
  package static let longestPause = Duration.seconds(2)

  /// - Parameters:
  ///   - userAgent: names the program, as `name/version`.
  ///   - environment: the variables that say whom stores take the requests to come from.
  /// - Throws: ``FetchError/noLibrary(_:)``
  package init(
    _ limits: FetchLimits, userAgent: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(FetchError) {
    self.limits = limits
    health = Locked(HostHealth(pause: limits.hostPause))
    stores = Stores(environment)
    allowed = AllowedAddresses(allowsPrivate: limits.allowsPrivate)
    policy = RetryPolicy(limits: limits)
    if let reason = ccurl_load() { throw .noLibrary(String(cString: reason)) }
    guard let multi = ccurl_multi_create(limits.connections, limits.perHost) else { throw .noLibrary("no memory") }
    loop = Loop(multi, limits, userAgent: userAgent)
    guard
      startThread(
        name: "transfers",
        { [loop, weak self] in
          while let self, self.runOnce() {}
          loop.destroy()
        })
    else { throw .noLibrary("the system gives no thread") }
  }

  /// Ends all transfers: they fail as cancelled.
  package func shutDown() {
    state.withLock { $0.isShutDown = true }
    loop.wake()
  }

  deinit { shutDown() }

  // MARK: The callers

  /// Fetches a source into a file. Returns when it is there, when it has not changed, or when enough of it is there.
  ///
  /// - Parameter file: an empty file.
  /// - Throws: ``FetchError``
  package func fetch(
    _ request: FetchRequest, into file: SpoolFile, monitor: some FetchMonitor
  ) throws(FetchError) -> FetchReply {
    var resumption: String?
    var earlier: (Validators, Int?) = (Validators(), nil)
    var received = 0
    var lastError: FetchError?
    var spent = Duration.zero
    var tries = request.tries
    var hasMoved = false
    // Whether a host that was down has been waited for.
    var hasWaited = false
    var request = request
    var course = PartCourse(beginning: request.beginning)
    while true {
      tries += 1
      let target = try stores.target(of: request)
      if let address = allowed.refusal(of: target.url) { throw .privateAddress(address) }
      let host = target.url.authority
      if !hasWaited, let obstacle = health.withLock({ $0.obstacle(of: host, at: .now) }) {
        guard limits.waitsForHosts else { throw lastError ?? obstacle }
        hasWaited = true
        monitor.entered(.waitingToRetry)
        try pause(limits.hostPause, monitor)
      }
      try checkQuiet(of: host, request, file, tries)
      allowed.lookUpProxies()
      let part = course.asked(having: file.held)
      let offset = part?.range.lowerBound ?? (resumption == nil ? 0 : file.size)
      if offset == 0, tries > request.tries + 1 || !file.held.isEmpty {
        try file.truncate(to: 0)
        monitor.restarted()
      }
      let transfer = Transfer(
        request, to: target, into: file, from: offset, part: part, limits, allowed
      ) { [weak self] in self?.goOn($0) }
      transfer.earlier = earlier
      let (sent, number) = (request, tries)
      transfer.signature = { [weak self] in
        Swift.Result { () throws(FetchError) in
          try self?.checkQuiet(of: host, sent, file, number)
          return try target.signature(sent)
        }
      }
      if request.leavesLongWaits {
        transfer.onRetryAfter = { [weak self] error, seconds in self?.note(seconds, after: error, of: host) }
      }
      let header =
        request.header + (part?.header ?? resumption.map { ["Range: bytes=\(offset)-", "If-Range: \($0)"] } ?? [])
      let ending = try perform(transfer, header, monitor, course, tries, &spent)
      let now = transfer.snapshot
      received += max(0, now.received - (now.isRestarted ? 0 : offset))
      if transfer.hasAnsweredWhole { course.answeredWhole() }
      switch ending {
      case .parts(let validators, let version, let total):
        let held = file.held
        // A later answer may tell less.
        earlier = (validators, total)
        let missing = monitor.missing(having: held, of: total)
        succeeded(host, file)
        if course.advance(missing: missing, having: held, of: total, version) {
          let outcome = held == RangeSet(0..<total) ? FetchReply.Outcome.complete : .parts(held, of: total)
          return FetchReply(
            outcome: outcome, validators: validators, metadata: transfer.metadata, bytesReceived: received)
        }
        // What is there is newer than what was known. A request that waits for its connection holds no space.
        (request.unless, resumption) = (nil, nil)
        tries -= 1
        file.releaseReservation()
      case .ended(.failed(let error, _)) where part != nil && error.mayMeanNoParts:
        course.giveUp()
        (resumption, tries) = (nil, tries - 1)
        file.releaseReservation()
      case .enough(let validators):
        succeeded(host, file)
        return FetchReply(
          outcome: .enough, validators: validators, metadata: transfer.metadata, bytesReceived: received)
      case .ended(.complete(let validators)):
        succeeded(host, file)
        return FetchReply(
          outcome: .complete, validators: validators, metadata: transfer.metadata, bytesReceived: received)
      case .ended(.unchanged(let validators)):
        succeeded(host, file)
        return FetchReply(outcome: .unchanged, validators: validators, bytesReceived: received)
      case .ended(.failed(.otherRegion, _)) where !hasMoved:
        // Signed for the region of the bucket, the same request is another one.
        hasMoved = true
        tries -= 1
      case .ended(.failed(.postponed(let postponement), _)): throw .postponed(postponement)
      case .ended(.failed) where transfer.lacksRest:
        // It is asked for the whole at once, because it is well.
        resumption = nil
      case .ended(.failed(let error, let retryAfter)):
        // After a redirect, another host may be at fault.
        let own = transfer.hasAnswered && error.isUnreachable ? FetchError.tooManyRedirects : error
        health.withLock { $0.failed(host, own, at: .now) }
        var decision = policy.decision(
          after: error, tries: tries, retryAfter: retryAfter, chance: .random(in: 0...1))
        if case .wait = decision, !health.withLock({ $0.takeTry(host, at: .now) }) { decision = .fail(error) }
        switch decision {
        case .fail(let error) where error.isUnreachable && limits.waitsForHosts:
          if hasWaited { throw .hostDown(host, reason: "\(error)") }
          hasWaited = true
          monitor.entered(.waitingToRetry)
          try pause(limits.hostPause, monitor)
        case .fail(let error): throw error
        case .wait(let time) where request.leavesLongWaits && .seconds(retryAfter ?? 0) > Self.longestPause:
          throw .postponed(Postponement(of: host, for: time, tries: tries))
        case .wait(let time):
          lastError = error
          // Others may need the space to free the connections for which the next try waits.
          file.releaseReservation()
          monitor.entered(.waitingToRetry)
          try pause(time, monitor)
          resumption = file.size > 0 ? transfer.resumption : nil
          earlier = (transfer.validators, transfer.total)
        }
      }
    }
  }

  /// Notes that a host asks to wait, before its next transfer begins.
  private func note(_ seconds: Int, after error: FetchError, of host: String) {
    let time = Duration.seconds(seconds)
    guard error.mayBeTemporary, time > Self.longestPause, time <= limits.longestWait else { return }
    health.withLock { $0.asksForQuiet(host, for: time, at: .now) }
  }

  /// Has a source wait of which nothing is there, if its host has asked another one to wait.
  ///
  /// - Parameter tries: those of the source, this one included.
  private func checkQuiet(
    of host: String, _ request: FetchRequest, _ file: SpoolFile, _ tries: Int
  ) throws(FetchError) {
    guard request.leavesLongWaits, file.held.isEmpty, let rest = health.withLock({ $0.quiet(of: host, at: .now) })
    else { return }
    let wait = RetryPolicy.spread(rest, chance: .random(in: 0...1))
    throw .postponed(Postponement(of: host, for: wait, tries: tries - 1))
  }

  private func succeeded(_ host: String, _ file: SpoolFile) {
    file.shrinkReservation()
    health.withLock { $0.succeeded(host, at: .now) }
  }

  private enum Result {
    case ended(Transfer.Ending)
    case enough(Validators)
    /// A part is there, or as much from the beginning as was of use.
    case parts(Validators, SourceVersion?, total: Int)
  }

  /// Has a transfer run to its end, and follows it.
  private func perform(
    _ transfer: Transfer, _ header: [String], _ monitor: some FetchMonitor, _ course: PartCourse, _ tries: Int,
    _ spent: inout Duration
  ) throws(FetchError) -> Result {
    transfer.requestHeader = header + Self.conditions(transfer.request.unless)
    guard
      state.withLock({ state in
        if state.isShutDown { return false }
        state.new.append(transfer)
        return true
      })
    else { throw .cancelled }
    loop.wake()
    var stage: FetchStage?
    var received = transfer.offset
    var isRestarted = false
    var last = ContinuousClock.now
    while true {
      let now = transfer.snapshot
      let moment = ContinuousClock.now
      if [.connecting, .receiving].contains(now.stage) { spent += moment - last }
      last = moment
      if monitor.isCancelled {
        remove(transfer)
        throw .cancelled
      }
      if now.stage == .waitingForConnection {
        do throws(FetchError) {
          try checkQuiet(of: transfer.target.authority, transfer.request, transfer.file, tries)
        } catch {
          remove(transfer)
          throw error
        }
      }
      if stage != now.stage {
        stage = now.stage
        monitor.entered(now.stage)
      }
      if let question = now.question {
        guard monitor.needs(question) else {
          remove(transfer)
          return .ended(.unchanged(question))
        }
        transfer.answer()
      }
      if now.isRestarted, !isRestarted {
        (isRestarted, received) = (true, 0)
        monitor.restarted()
      }
      if now.received > received, !now.isPart {
        received = now.received
        switch monitor.received(received, of: now.total) {
        case .enough(let count) where count <= received:
          remove(transfer)
          try transfer.file.truncate(to: count)
          return .enough(transfer.validators)
        case .parts(let missing):
          // A source that has changed meanwhile is not fetched in parts again.
          let isAnother = now.isRestarted
          switch course.verdict(missing: missing, having: received, isAnother ? nil : now.version) {
          case .goOn: transfer.judged(received, needsAll: false)
          case .all: transfer.judged(received, needsAll: true)
          case .end:
            remove(transfer)
            return .parts(transfer.validators, now.version, total: now.version?.total ?? received)
          }
        case .enough, .goOn: transfer.judged(received, needsAll: false)
        case .all: transfer.judged(received, needsAll: true)
        }
      }
      if let ending = now.ending {
        if case .complete(let validators) = ending, now.isPart, let total = now.total {
          return .parts(validators, now.version, total: total)
        }
        return .ended(ending)
      }
      if spent > limits.wholeTimeout {
        remove(transfer)
        return .ended(.failed(.timedOut(limits.wholeTimeout), retryAfter: nil))
      }
      transfer.wait(upTo: Self.tick)
    }
  }

  private static func conditions(_ known: Validators?) -> [String] {
    guard let known else { return [] }
    return (known.entityTag.map { ["If-None-Match: \($0)"] } ?? [])
      + (known.lastModified.map { ["If-Modified-Since: \(HTTPDate.text($0))"] } ?? [])
  }

  private func pause(_ time: Duration, _ monitor: some FetchMonitor) throws(FetchError) {
    let end = ContinuousClock.now + time
    while ContinuousClock.now < end {
      if monitor.isCancelled || state.withLock({ $0.isShutDown }) { throw .cancelled }
      // The question above may have taken until after the end.
      let rest = min(Self.tick, end - .now)
      if rest > .zero { usleep(useconds_t(rest / .microseconds(1))) }
    }
  }

  private func goOn(_ transfer: Transfer) {
    state.withLock { $0.continued.append(transfer) }
    loop.wake()
  }

  /// Removes a transfer, and waits until it is.
  private func remove(_ transfer: Transfer) {
    transfer.stop()
    let done = TimedSignal()
    state.withLock { $0.removed.append((transfer, done)) }
    loop.wake()
    while !done.wait(upTo: .seconds(1)), !state.withLock({ $0.isShutDown }) {}
  }

  // MARK: The thread of the transfers

  /// - Returns: false if the thread must end.
  private func runOnce() -> Bool {
    let (work, isOver) = state.withLock { state in
      defer { (state.new, state.continued, state.removed) = ([], [], []) }
      return ((state.new, state.continued, state.removed), state.isShutDown)
    }
    for transfer in work.0 { loop.begin(transfer) }
    for transfer in work.1 { loop.goOn(transfer) }
    for (transfer, done) in work.2 {
      loop.remove(transfer)
      done.signal()
    }
    if isOver { return false }
    loop.run()
    return true
  }
}
