#if Endpoint
import Locking
import PreviewEndpoint
import StatusEndpoint

/// What a server has answered so far.
///
/// *Concurrency*: from any thread; the lock guards the counts.
final class ServeTally: Sendable {
  private struct Counts {
    var byKey: [String: Int] = [:]
    var received = 0
    var sent = 0
  }

  private let counts = Locked(Counts())

  /// What the status shows, with its metrics.
  static let counters: [RunCounter] =
    [
      RunCounter("previews", "Requests that got a preview or a description.", metric: .total("requests_answered")),
      RunCounter("refused", "Requests that were wrong, or whose picture was.", metric: .total("requests_refused")),
      RunCounter(
        "turned_away", "Requests that may come again: the server was busy or ending.",
        metric: .total("requests_turned_away")),
      RunCounter("faults", "Requests that failed through the server's fault.", metric: .total("requests_failed")),
      RunCounter("left", "Requests whose client has left before the answer.", metric: .total("requests_left")),
      RunCounter("imaginary", "Requests to imaginary's routes.", metric: .total("requests_imaginary")),
      RunCounter("imagor", "Requests to imagor's routes.", metric: .total("requests_imagor")),
    ]

  func count(_ request: AnsweredRequest) {
    // Requests for health are not counted.
    guard request.method == "POST" || request.status >= 400 else { return }
    counts.withLock { counts in
      counts.byKey[Self.outcome(request), default: 0] += 1
      if let dialect = request.dialect { counts.byKey[dialect, default: 0] += 1 }
      counts.received += request.bytesReceived
      counts.sent += request.bytesSent
    }
  }

  private static func outcome(_ request: AnsweredRequest) -> String {
    switch request.status {
    case _ where request.isAbandoned: "left"
    case ..<400: "previews"
    case 503: "turned_away"
    case 500...: "faults"
    default: "refused"
    }
  }

  /// The counts as those of a run.
  var asRunCounters: RunCounters {
    let counts = counts.withLock { $0 }
    var values = counts.byKey
    func count(_ key: String) -> Int { values[key] ?? 0 }
    values["made"] = count("previews")
    values["failed"] = count("refused") + count("faults")
    values["cancelled"] = count("turned_away") + count("left")
    values["found"] = count("made") + count("failed") + count("cancelled")
    values["thumbnails"] = count("previews")
    values["bytes_read"] = counts.received
    values["bytes_written"] = counts.sent
    for counter in Self.counters where values[counter.key] == nil { values[counter.key] = 0 }
    return RunCounters(values)
  }
}
#endif
