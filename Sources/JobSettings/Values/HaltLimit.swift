import Files

/// After how many failures a job stops: a number such as `10`, or a share of the sources such as `5%`.
package enum HaltLimit: Sendable, Hashable, CustomStringConvertible {
  case failures(Int)
  /// The share of the sources done so far: above 0, at most 100.
  case percent(Double)

  /// - Parameter subject: the option or key that the error names.
  /// - Throws: ``TextError``.
  package init(parsing text: String, for subject: String) throws(TextError) {
    if text.hasSuffix("%"), let percent = Double(text.dropLast()), percent > 0, percent <= 100 {
      self = .percent(percent)
    } else if let failures = Int(text), failures > 0 {
      self = .failures(failures)
    } else {
      throw TextError(
        "\(subject): “\(printableText(of: Array(text.utf8)))” is neither a count of failures such as 10 "
          + "nor a share of the sources such as 5%")
    }
  }

  /// A share counts only once ten sources are done: after a failure of the first, it would be 100 %.
  ///
  /// - Parameters:
  ///   - failed: the sources that have failed.
  ///   - ended: the sources that are done, with any result.
  package func isReached(failed: Int, ended: Int) -> Bool {
    switch self {
    case .failures(let count): failed >= count
    case .percent(let percent): ended >= 10 && Double(failed) * 100 >= percent * Double(ended)
    }
  }

  package var description: String {
    switch self {
    case .failures(let count): "\(count)"
    case .percent(let percent): percent == percent.rounded() ? "\(Int(percent))%" : "\(percent)%"
    }
  }
}
