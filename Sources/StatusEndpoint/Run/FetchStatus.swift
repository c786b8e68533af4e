/// What a run fetches from the network.
public struct FetchStatus: Codable, Sendable, Equatable {
  /// Sources that were fetched, as far as their thumbnails need them.
  public var fetched: Int
  /// Sources that have not changed, as their servers say.
  public var unchanged: Int
  /// Sources that could not be fetched.
  public var failed: Int
  /// Bytes that have arrived of sources that could be fetched.
  public var bytes: Int
  /// Fetches that run, and that wait for others.
  public var running: Int
  public var waiting: Int

  public init(fetched: Int, unchanged: Int, failed: Int, bytes: Int, running: Int, waiting: Int) {
    (self.fetched, self.unchanged, self.failed, self.bytes) = (fetched, unchanged, failed, bytes)
    (self.running, self.waiting) = (running, waiting)
  }
}
