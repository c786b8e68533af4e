/// When a photo was taken: what the clock of the camera showed, and how far that clock was from UTC if the camera has noted
/// it.
///
/// *Source*: Exif 2.32, 4.6.5: DateTimeOriginal and OffsetTimeOriginal.
package struct CaptureDate: Sendable, Hashable, CustomStringConvertible {
  package let year: Int
  package let month: Int
  package let day: Int
  private let hour: Int
  private let minute: Int
  private let second: Int
  /// In minutes, positive to the east; nil if it is not known.
  private let offset: Int?

  /// Reads Exif's texts; nil if the first one is no date, as where a camera's clock was never set.
  ///
  /// - Parameters:
  ///   - text: `2024:07:14 18:03:12`. Some programs write other separators.
  ///   - offset: `+02:00`; nil, or another text, if it is not known.
  package init?(exif text: String, offset: String?) {
    let bytes = Array(text.utf8.prefix(19))
    guard bytes.count == 19 else { return nil }
    let numbers = [0..<4, 5..<7, 8..<10, 11..<13, 14..<16, 17..<19].map { Self.number(bytes[$0]) }
    let separators = [4, 7, 10, 13, 16].map { bytes[$0] }
    guard let year = numbers[0], let month = numbers[1], let day = numbers[2], let hour = numbers[3],
      let minute = numbers[4], let second = numbers[5], separators.allSatisfy({ Self.number([$0]) == nil }),
      year > 0, (1...12).contains(month), (1...Self.days(of: month, year)).contains(day), hour < 24, minute < 60,
      second < 60
    else { return nil }
    (self.year, self.month, self.day) = (year, month, day)
    (self.hour, self.minute, self.second) = (hour, minute, second)
    self.offset = offset.flatMap(Self.minutes)
  }

  private static func number(_ digits: some Collection<UInt8>) -> Int? {
    var number = 0
    for digit in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      number = 10 * number + Int(digit - UInt8(ascii: "0"))
    }
    return number
  }

  private static func days(of month: Int, _ year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The minutes that a text such as `+02:00` tells.
  private static func minutes(_ offset: String) -> Int? {
    let bytes = Array(offset.utf8.prefix(6))
    if bytes.first == UInt8(ascii: "Z") { return 0 }
    guard bytes.count == 6, [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(bytes[0]), bytes[3] == UInt8(ascii: ":"),
      let hours = number(bytes[1..<3]), let minutes = number(bytes[4..<6]), hours <= 14, minutes < 60
    else { return nil }
    return (bytes[0] == UInt8(ascii: "-") ? -1 : 1) * (60 * hours + minutes)
  }

  /// The date with its time, as in RFC 3339: `2024-07-14T18:03:12+02:00`. Without an offset it ends with the seconds.
  package var description: String {
    let time = [hour, minute, second].map { Self.padded($0) }.joined(separator: ":")
    guard let offset else { return "\(dayText)T\(time)" }
    let (hours, minutes) = abs(offset).quotientAndRemainder(dividingBy: 60)
    return "\(dayText)T\(time)\(offset < 0 ? "-" : "+")\(Self.padded(hours)):\(Self.padded(minutes))"
  }

  /// The date alone: `2024-07-14`.
  package var dayText: String { "\(Self.padded(year, 4))-\(Self.padded(month))-\(Self.padded(day))" }

  /// A number with zeros before it.
  package static func padded(_ number: Int, _ digits: Int = 2) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
  }
}
