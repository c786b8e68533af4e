#if Endpoint
import DequeModule
import Locking
import NIOCore

/// The state of a run in each of the last 600 seconds, so that the charts are complete when the page is opened late.
///
/// *Concurrency*: the lock guards the samples. The endpoint's thread takes one each second, in a few microseconds.
final class RunHistory: Sendable {
  /// The answer of `GET /history`: columns of equal length, oldest first.
  struct Columns: Codable, Sendable, Equatable {
    var elapsedSeconds: [Double] = []
    var running: [Int] = []
    var waiting: [Int] = []
    /// Written so far. The difference of two entries gives the rate.
    var thumbnails: [Int] = []
    var reservedBytes: [Int] = []
    var residentBytes: [Int] = []
    var budgetBytes: [Int] = []
    var pressure: [PressureStatus.Level] = []

    enum CodingKeys: String, CodingKey {
      case running, waiting, thumbnails, pressure
      case elapsedSeconds = "elapsed_seconds"
      case reservedBytes = "reserved_bytes"
      case residentBytes = "resident_bytes"
      case budgetBytes = "budget_bytes"
    }
  }

  private struct Sample: Sendable {
    let elapsed: Double
    let running, waiting, thumbnails, reserved, resident, budget: Int
    let pressure: PressureStatus.Level
  }

  /// Ten minutes.
  static let capacity = 600
  /// Oldest first.
  private let samples = Locked(Deque<Sample>())

  func add(_ status: RunStatus) {
    // Rounded: a chart shows no more digits, and the text is a third as long.
    let sample = Sample(
      elapsed: (status.elapsedSeconds * 10).rounded() / 10, running: status.counters.running,
      waiting: status.counters.waiting, thumbnails: status.counters.thumbnails, reserved: status.memory.reservedBytes,
      resident: status.memory.residentBytes, budget: status.memory.budgetBytes, pressure: status.pressure.level)
    samples.withLock { $0.append(sample, keeping: Self.capacity) }
  }

  var columns: Columns {
    let samples = samples.withLock { $0 }
    var columns = Columns()
    for sample in samples {
      columns.elapsedSeconds.append(sample.elapsed)
      columns.running.append(sample.running)
      columns.waiting.append(sample.waiting)
      columns.thumbnails.append(sample.thumbnails)
      columns.reservedBytes.append(sample.reserved)
      columns.residentBytes.append(sample.resident)
      columns.budgetBytes.append(sample.budget)
      columns.pressure.append(sample.pressure)
    }
    return columns
  }
}
#endif
