import Fetching
import Locking

/// Connections that are made when they are first needed: most jobs have only files.
///
/// *Concurrency*: every member may be called from any thread.
final class Connections: Sendable {
  private let limits: FetchLimits
  private let userAgent: String
  /// Guarded by its lock, which is held while it is made.
  private let made = Locked<Fetcher?>(nil)

  init(_ limits: FetchLimits, userAgent: String) { (self.limits, self.userAgent) = (limits, userAgent) }

  /// - Throws: `FetchError` if the library for connections is missing.
  func fetcher() throws(FetchError) -> Fetcher {
    try made.withLock { made throws(FetchError) in
      if let made { return made }
      let fetcher = try Fetcher(limits, userAgent: userAgent)
      made = fetcher
      return fetcher
    }
  }

  /// Ends all transfers.
  func shutDown() { made.withLock { $0 }?.shutDown() }
}
