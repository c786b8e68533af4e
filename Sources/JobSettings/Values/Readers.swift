import Files

/// How many files are read at once ahead of the operations.
package enum Readers: Sendable, Equatable {
  /// As many as their disk can bear: one of a spinning disk, several over a network; elsewhere the operations read.
  case auto
  /// So many, whatever the disk is; with 0 the operations read.
  case fixed(Int)

  /// How many there may be.
  package static let range = 0...64
  /// Over a network, if the job chooses.
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
