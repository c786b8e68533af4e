import Caching

/// What is known of the hosts: how many more tries each may have, and whether it is down. A value without a clock.
///
/// *Source*: retry quotas as in gRPC (proposal A6) and the AWS SDKs; a circuit breaker.
struct HostHealth {
  private struct Host {
    /// Tries left. Each costs one, and each success gives a part back.
    var tries = Self.mostTries
    /// Connections that have failed in a row.
    var failures = 0
    /// Until then no source is tried.
    var downUntil: ContinuousClock.Instant?
    var reason = ""
    /// Until then the host wants no request.
    var quietUntil: ContinuousClock.Instant?

    static let mostTries = 20.0
  }

  private static let triesPerSuccess = 0.1
  private static let failuresOfBreaker = 5
  /// How long a host that is down is left alone.
  let pause: Duration
  static let mostHosts = 1000

  private var hosts = LRUTable<String, Host>(CacheLimits(count: mostHosts))

  init(pause: Duration = FetchLimits().hostPause) { self.pause = pause }

  var count: Int { hosts.count }

  /// Why a source of the host is not tried now; nil if it is. After the pause one source is tried, and others wait for the
  /// pause again until it has succeeded.
  mutating func obstacle(of name: String, at now: ContinuousClock.Instant) -> FetchError? {
    guard let host = hosts.peek(name), let until = host.downUntil else { return nil }
    if now < until { return .hostDown(name, reason: host.reason) }
    let end = now + pause
    change(name, now) { $0.downUntil = end }
    return nil
  }

  mutating func succeeded(_ name: String, at now: ContinuousClock.Instant) {
    change(name, now) { host in
      (host.failures, host.downUntil) = (0, nil)
      host.tries = min(Host.mostTries, host.tries + Self.triesPerSuccess)
    }
  }

  mutating func failed(_ name: String, _ error: FetchError, at now: ContinuousClock.Instant) {
    let end = now + pause
    change(name, now) { host in
      guard error.isUnreachable else {
        // It does answer.
        (host.failures, host.downUntil) = (0, nil)
        return
      }
      host.failures += 1
      guard host.failures >= Self.failuresOfBreaker else { return }
      host.downUntil = end
      host.reason = "\(error)"
    }
  }

  /// Notes that the host wants no request for a time. Without tries left, its sources fail instead: they would wait again and
  /// again.
  mutating func asksForQuiet(_ name: String, for time: Duration, at now: ContinuousClock.Instant) {
    change(name, now) { if $0.tries >= 1 { $0.quietUntil = now + time } }
  }

  /// How long the host still wants no request; nil if it may get one.
  func quiet(of name: String, at now: ContinuousClock.Instant) -> Duration? {
    hosts.peek(name)?.quietUntil.flatMap { now < $0 ? $0 - now : nil }
  }

  /// Takes a try from the host's budget.
  ///
  /// - Returns: false if there is none.
  mutating func takeTry(_ name: String, at now: ContinuousClock.Instant) -> Bool {
    change(name, now) { host in
      if host.tries < 1 { return false }
      host.tries -= 1
      return true
    }
  }

  private mutating func change<Result>(
    _ name: String, _ now: ContinuousClock.Instant, _ body: (inout Host) -> Result
  ) -> Result {
    var host = hosts.peek(name) ?? Host()
    defer { _ = hosts.insert(host, for: name, at: now) }
    return body(&host)
  }
}
