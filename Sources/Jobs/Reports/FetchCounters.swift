/// What a job has fetched from the network.
package struct FetchCounters: Sendable, Equatable {
  /// Sources that were fetched, as far as their thumbnails need them.
  package internal(set) var fetched = 0
  /// Sources that have not changed, as their servers say.
  package internal(set) var unchanged = 0
  /// Sources that could not be fetched.
  package internal(set) var failed = 0
  /// Bytes that have arrived of sources that could be fetched, those of failed tries included.
  package internal(set) var bytes = 0
  /// The most sources that were fetched at once.
  package internal(set) var peak = 0
}
