import Files
import Foundation
import JobSettings

/// A moment in the past, as text: a day of the process's time zone, or a duration until now.
enum Moment {
  /// The moment in seconds since 1970.
  ///
  /// - Parameter subject: the option that the error names.
  static func parse(_ text: String, for subject: String) throws(TextError) -> Int {
    let digits = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
    if text.utf8.count == 10, digits.count == 3, let year = digits[0], let month = digits[1], let day = digits[2],
      (1...12).contains(month), (1...31).contains(day)
    {
      var parts = tm()
      (parts.tm_year, parts.tm_mon, parts.tm_mday) = (CInt(year - 1900), CInt(month - 1), CInt(day))
      parts.tm_isdst = -1
      let time = mktime(&parts)
      // The 31st of a month of 30 days becomes the next month's first.
      if time != -1, parts.tm_mday == CInt(day) { return time }
    }
    guard let duration = try? DurationText.parse(text, for: subject) else {
      throw TextError(
        "\(subject): “\(printableText(of: Array(text.utf8)))” is no moment; write a day (2026-11-20) or a duration (36h)"
      )
    }
    return Int(Date().timeIntervalSince1970) - Int(duration / .seconds(1))
  }
}
