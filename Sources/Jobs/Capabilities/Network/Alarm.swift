import Fetching
import Foundation

/// Operations that end at a time. What depends on one waits until then in the backlog of its queue, in no running place.
enum Alarm {
  private static let threads = DispatchQueue(label: "times that servers have named")

  /// - Returns: an operation that ends when the source may be asked for again; nil if it may be now.
  static func operation(at postponement: Postponement) -> Operation? {
    let rest = postponement.until - .now
    guard rest > .zero else { return nil }
    let operation = BlockOperation {}
    let seconds = rest / .seconds(1)
    operation.name = "\(clock(after: seconds)), before which \(postponement.host) wants no request"
    threads.asyncAfter(deadline: .now() + seconds) { operation.start() }
    return operation
  }

  /// The time of day, as 14:05:09.
  private static func clock(after seconds: Double) -> String {
    var (time, parts) = (Foundation.time(nil) + Int(seconds.rounded(.up)), tm())
    localtime_r(&time, &parts)
    return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { ($0 < 10 ? "0" : "") + "\($0)" }.joined(separator: ":")
  }
}
