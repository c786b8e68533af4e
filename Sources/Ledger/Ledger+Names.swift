import Files

extension Ledger {
  /// The name of the file in its folder.
  ///
  /// - Parameter part: the part of the sources that it is for, as text without slashes; nil for all. Where several processes
  ///   make a part each, each has a ledger of its own, so that none waits for another.
  package static func name(part: String? = nil) -> Path { Path(part.map { "ledger-\($0)" } ?? "ledger") }

  /// Whether a file of this name is a ledger: that of all sources, or of a part such as `3-of-64`.
  package static func isName(_ name: Path) -> Bool {
    let text = String(decoding: name.bytes, as: UTF8.self)
    return text == "ledger" || text.hasPrefix("ledger-") && isPart(text.dropFirst("ledger-".count))
  }

  /// Whether a text names a part, such as `3-of-64`.
  package static func isPart(_ text: some StringProtocol) -> Bool {
    let words = text.split(separator: "-", omittingEmptySubsequences: false)
    return words.count == 3 && words[1] == "of" && [words[0], words[2]].allSatisfy { UInt32($0) != nil }
  }
}
