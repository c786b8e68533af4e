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
    var byAnswer: [Answer: Int] = [:]
    var received = 0
    var sent = 0
  }

  /// What requests are counted by.
  private struct Answer: Hashable, Comparable {
    let dialect, status, reason: String

    static func < (a: Answer, b: Answer) -> Bool { (a.dialect, a.status, a.reason) < (b.dialect, b.status, b.reason) }
  }

  private let counts = Locked(Counts())

  /// What the status shows. The metrics have it by dialect, status and reason.
  static let counters: [RunCounter] =
    [
      RunCounter("previews", "Requests that got a preview or a description.", metric: nil),
      RunCounter("refused", "Requests that were wrong, or whose picture was.", metric: nil),
      RunCounter(
        "turned_away", "Requests that may come again: the server was busy or ending.",
        metric: nil),
      RunCounter("faults", "Requests that failed through the server's fault.", metric: nil),
      RunCounter("left", "Requests whose client has left before the answer.", metric: nil),
      RunCounter("imaginary", "Requests to imaginary's routes.", metric: nil),
      RunCounter("imagor", "Requests to imagor's routes.", metric: nil),
    ]

  func count(_ request: AnsweredRequest) {
    // Requests for health are not counted.
    guard request.method == "POST" || request.status >= 400 else { return }
    counts.withLock { counts in
      counts.byKey[Self.outcome(request), default: 0] += 1
      if let dialect = request.dialect { counts.byKey[dialect, default: 0] += 1 }
      let answer = Answer(
        dialect: request.dialect ?? "none", status: "\(request.status)",
        reason: request.isAbandoned ? "left" : request.error?.reason.rawValue ?? "none")
      counts.byAnswer[answer, default: 0] += 1
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

  var metrics: [MetricFamily] {
    let counts = counts.withLock { $0 }
    return [
      MetricFamily(
        "thumbjob_requests_total", .counter,
        "Requests that have ended, by dialect, status (499: the client has left) and reason.",
        counts.byAnswer.sorted { $0.key < $1.key }.map { answer, count in
          MetricFamily.Sample(
            count, labels: [("dialect", answer.dialect), ("status", answer.status), ("reason", answer.reason)])
        }),
      MetricFamily(
        "thumbjob_received_bytes_total", .counter, "Bytes of bodies that clients have sent.",
        [MetricFamily.Sample(counts.received)]),
      MetricFamily(
        "thumbjob_sent_bytes_total", .counter, "Bytes of bodies that clients were sent.",
        [MetricFamily.Sample(counts.sent)]),
    ]
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
