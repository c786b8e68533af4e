import Foundation

/// The dates of HTTP.
///
/// *Source*: RFC 9110, 5.6.7.
enum HTTPDate {
  private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

  /// Reads one of the three forms, such as `Sun, 06 Nov 1994 08:49:37 GMT`; nil if it is none. In seconds since 1970.
  static func seconds(_ text: String) -> Int? {
    let words = text.split { " ,-".contains($0) }.dropFirst().map(String.init)
    guard text.utf8.count <= 64, words.count >= 4, let time = words.first(where: { $0.contains(":") }) else {
      return nil
    }
    // asctime() puts the year last, and the day after the month.
    let isOld = months.contains(words[0].lowercased())
    let (day, month) = isOld ? (words[1], words[0]) : (words[0], words[1])
    guard let year = isOld ? words.last.flatMap({ Int($0) }) : Int(words[2]), let day = Int(day),
      let month = months.firstIndex(of: month.lowercased())
    else { return nil }
    let clock = time.split(separator: ":").map { Int($0) ?? -1 }
    guard clock.count == 3, (0...23).contains(clock[0]), (0...59).contains(clock[1]), (0...60).contains(clock[2]),
      (1...31).contains(day), (0...9999).contains(year)
    else { return nil }
    var parts = tm()
    parts.tm_year = Int32(year < 70 ? year + 2000 : year < 100 ? year + 1900 : year) - 1900
    (parts.tm_mon, parts.tm_mday) = (Int32(month), Int32(day))
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (Int32(clock[0]), Int32(clock[1]), Int32(clock[2]))
    let seconds = timegm(&parts)
    return seconds >= 0 ? seconds : nil
  }

  /// Reads a time such as `2026-11-24T11:59:37.000Z` of ISO 8601; nil if it is none. In seconds since 1970.
  static func secondsOfISO(_ text: [UInt8]) -> Int? {
    let numbers = text.split { !(0x30...0x39).contains($0) }.prefix(6).map {
      Int32(String(decoding: $0, as: UTF8.self))
    }
    guard text.count >= 19, text.last == UInt8(ascii: "Z"), numbers.count == 6, let year = numbers[0],
      (1970...9999).contains(year), let month = numbers[1], let day = numbers[2], let hour = numbers[3],
      let minute = numbers[4], let second = numbers[5]
    else { return nil }
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1900, month - 1, day)
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (hour, minute, second)
    let seconds = timegm(&parts)
    return seconds >= 0 ? seconds : nil
  }

  /// The usual form.
  static func text(_ seconds: Int) -> String {
    var (time, parts) = (time_t(seconds), tm())
    gmtime_r(&time, &parts)
    func two(_ number: Int32) -> String { (number < 10 ? "0" : "") + "\(number)" }
    return "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)].capitalized) "
      + "\(Int(parts.tm_year) + 1900) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
  }
}
