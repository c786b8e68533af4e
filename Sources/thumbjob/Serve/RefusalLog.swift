#if Endpoint
import Files
import Locking
import PreviewEndpoint
import Previews

/// Says why requests got no preview: for each reason at most one line in a minute, with the number of those that have none.
///
/// *Concurrency*: from any thread; the lock guards the entries.
final class RefusalLog: Sendable {
  private struct Entry {
    var lastLine: ContinuousClock.Instant
    /// Requests since then.
    var untold = 0
  }

  private let entries = Locked<[PreviewError.Reason: Entry]>([:])

  private static let pause = Duration.seconds(60)

  /// The line for a request that was answered; nil if it needs none now.
  func line(for request: AnsweredRequest, at now: ContinuousClock.Instant = .now) -> String? {
    guard let error = request.error else { return nil }
    let untold: Int? = entries.withLock { entries in
      if let entry = entries[error.reason], now - entry.lastLine < Self.pause {
        entries[error.reason]?.untold += 1
        return nil
      }
      return entries.updateValue(Entry(lastLine: now), forKey: error.reason)?.untold ?? 0
    }
    guard let untold else { return nil }
    let others = untold == 0 ? "" : " (\(Units.count(untold, "more request")) since the last such line)"
    return "thumbjob: \(error.status) for \(request.client): \(error.message)\(others)"
  }
}
#endif
