import Files

/// How many files are read at once ahead of the operations.
package enum Readers: Sendable, Equatable {
  /// As many as the disk can bear: one on a spinning disk, eight over a network, and none elsewhere.
  case auto
  /// This many, whatever the disk is. With 0, the operations read.
  case fixed(Int)

  /// How many there may be.
  package static let range = 0...64
  /// How many ``auto`` reads at once over a network.
  private static let overNetwork = 8

  /// - Parameter subject: the option or key that the error names.
  /// - Throws: ``TextError``.
  package init(parsing text: String, for subject: String) throws(TextError) {
    if text == "auto" {
      self = .auto
    } else if text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains), let count = Int(text),
      Self.range.contains(count)
    {
      self = .fixed(count)
    } else {
      throw TextError(
        "\(subject): “\(printableText(of: Array(text.utf8)))” is neither auto nor a number up to \(Self.range.upperBound)"
      )
    }
  }

  /// As it is written in settings.
  package var text: String {
    switch self {
    case .auto: "auto"
    case .fixed(let count): "\(count)"
    }
  }

  /// The most that there are at once.
  package var most: Int {
    switch self {
    case .auto: Self.overNetwork
    case .fixed(let count): count
    }
  }
}
