import Foundation

/// Numbers with units as text. For bytes see `ByteCount`.
package enum Units {
  /// A duration: `0.4 s`, `2 min 5 s`, `3 h 20 min`.
  package static func time(_ duration: Duration) -> String {
    let seconds = duration / .seconds(1)
    if seconds < 60 { return "\(decimal(seconds)) s" }
    let whole = Int(seconds.rounded())
    if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
    return "\(whole / 3600) h \(whole % 3600 / 60) min"
  }

  /// A number with one decimal place below 100 and none from 100 on.
  package static func decimal(_ value: Double) -> String {
    // Not with a format of Foundation, whose first use takes a third of a millisecond.
    let most = 1e15  // the value may come from another program
    let size = value.isNaN ? 0 : min(abs(value), most)
    let tenths = Int((size * 10).rounded(.toNearestOrEven))
    let sign = value < 0 && tenths > 0 ? "-" : ""
    return tenths < 1000
      ? "\(sign)\(tenths / 10).\(tenths % 10)" : "\(sign)\(Int(size.rounded(.toNearestOrEven)))"
  }

  /// `1 source`, `2 sources`.
  package static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

  /// The day of a moment, in the time zone of the process: `2026-11-20`.
  ///
  /// - Parameter time: seconds since 1970.
  package static func day(_ time: Int) -> String {
    let parts = local(time)
    return String(format: "%04d-%02d-%02d", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday)
  }

  /// The minute of a moment, in the time zone of the process: `2026-11-20 23:10`.
  ///
  /// - Parameter time: seconds since 1970.
  package static func minute(_ time: Int) -> String {
    let parts = local(time)
    return day(time) + String(format: " %02d:%02d", parts.tm_hour, parts.tm_min)
  }

  private static func local(_ time: Int) -> tm {
    var (seconds, parts) = (time_t(time), tm())
    localtime_r(&seconds, &parts)
    return parts
  }
}
