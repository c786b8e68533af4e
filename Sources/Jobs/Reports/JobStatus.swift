import BoundedQueue
import MemoryPressure
import Places

/// The state of a job at one moment.
package struct JobStatus: Sendable {
  package let tally: JobTally
  package let queue: QueueSnapshot
  /// The queue of the fetches from the network; nil if the job has none.
  package internal(set) var fetches: QueueSnapshot?
  /// The queue of the reads ahead of the operations; nil if nothing is read ahead.
  package internal(set) var reads: QueueSnapshot?
  /// Sources that are held back, to be started in the order of their places on the disk.
  package internal(set) var held = 0
  /// What was fetched so far; nil if the job has no sources from the network.
  package internal(set) var fetched: FetchCounters?
  /// The page of a bucket that the walk waits for; nil if it waits for none.
  package internal(set) var listing: String?
  /// The runs of other processes that the job waits for; empty once it has begun.
  package internal(set) var awaited: [RunIdentity] = []
  package let elapsed: Duration
  /// The number of all sources; nil until it is known.
  package let total: Int?
  package let stopCause: StopCause?
  /// Nil before the job runs.
  package internal(set) var pressure: PressureSnapshot?
  /// Nil if the job does not watch its folders.
  package internal(set) var watch: WatchCounters?
}
