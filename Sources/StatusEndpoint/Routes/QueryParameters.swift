#if Endpoint
/// The query parameters of a request.
struct QueryParameters: Sendable {
  private var values: [String: String] = [:]

  /// - Throws: ``HTTPError`` for a parameter that is unknown or given twice.
  init(_ text: Substring, known: Set<String>) throws(HTTPError) {
    for pair in text.split(separator: "&") {
      let (key, value) = Self.halves(pair)
      guard known.contains(key) else {
        let list = known.isEmpty ? "none" : known.sorted().joined(separator: ", ")
        throw HTTPError(.badRequest, "unknown parameter \"\(key.prefix(40))\"; this route accepts \(list)")
      }
      guard values.updateValue(value, forKey: key) == nil else {
        throw HTTPError(.badRequest, "the parameter \(key) is given twice")
      }
    }
  }

  func number(_ key: String, in range: ClosedRange<Int>, otherwise fallback: Int) throws(HTTPError) -> Int {
    guard let text = values[key] else { return fallback }
    guard text.isDecimal, let number = Int(text), range.contains(number) else {
      throw HTTPError(.badRequest, "\(key) must be a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// A comma-separated list of words.
  func words<Word: RawRepresentable & CaseIterable>(
    _ key: String, otherwise fallback: [Word]
  ) throws(HTTPError) -> [Word] where Word.RawValue == String {
    guard let text = values[key] else { return fallback }
    var words: [Word] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let word = Word(rawValue: String(part)) else {
        let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
        throw HTTPError(.badRequest, "\(key) must be a comma-separated list of \(known)")
      }
      words.append(word)
    }
    return words
  }

  private static func halves(_ pair: Substring) -> (String, String) {
    guard let equals = pair.firstIndex(of: "=") else { return (decoded(pair), "") }
    return (decoded(pair[..<equals]), decoded(pair[pair.index(after: equals)...]))
  }

  /// Decodes percent escapes; text with invalid escapes stays as it is and matches nothing.
  private static func decoded(_ text: Substring) -> String {
    guard text.utf8.contains(0x25) else { return String(text) }
    var bytes: [UInt8] = []
    var rest = text.utf8
    while let byte = rest.popFirst() {
      guard byte == 0x25 else {
        bytes.append(byte)
        continue
      }
      guard let digits = String(rest.prefix(2)), digits.utf8.count == 2, !digits.hasPrefix("+"),
        let value = UInt8(digits, radix: 16)
      else { return String(text) }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
#endif
