/// Decides whether and when a source is tried again. A value without a clock.
///
/// The waits double, and each is shortened at random by up to a half, so that many sources that failed together are not
/// tried again together. A host has a budget of tries, which successes refill: if most requests fail, few are repeated.
struct RetryPolicy {
  static let firstWait = Duration.milliseconds(500)

  let limits: FetchLimits

  enum Decision: Equatable {
    case wait(Duration)
    case fail(FetchError)
  }

  /// - Parameters:
  ///   - tries: how often the source was tried.
  ///   - retryAfter: the seconds that the server asks to wait at least; nil if it does not.
  ///   - chance: from 0 to 1.
  func decision(after error: FetchError, tries: Int, retryAfter: Int?, chance: Double) -> Decision {
    guard error.mayBeTemporary, tries < limits.tries else { return .fail(error) }
    let wait = Self.firstWait * (1 << min(tries - 1, 10)) * (1 - chance / 2)
    guard let retryAfter else { return .wait(wait) }
    if .seconds(retryAfter) > limits.longestWait {
      if case .status(let status) = error { return .fail(.waitTooLong(retryAfter, status: status)) }
      return .fail(error)
    }
    return .wait(max(wait, Self.spread(.seconds(retryAfter), tries: tries, chance: chance)))
  }

  /// A wait that a server has asked for, and up to a tenth more: sources that were told the same time must not come back
  /// together, and none too early.
  static func spread(_ wait: Duration, tries: Int = 1, chance: Double) -> Duration {
    wait + max(firstWait * (1 << min(tries - 1, 10)), wait / 10) * chance
  }
}
