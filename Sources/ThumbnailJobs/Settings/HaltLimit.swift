import Files

/// After how many failures a run gives up: `--halt 10` or `--halt 5%`.
public enum HaltLimit: Sendable, Hashable, CustomStringConvertible {
  case failures(Int)
  /// Percent of the sources finished so far, above 0 and up to 100.
  case percent(Double)

  /// - Throws: `TextProblem` naming `subject`, the option or key.
  public init(parsing text: String, for subject: String) throws(TextProblem) {
    if text.hasSuffix("%"), let percent = Double(text.dropLast()), percent > 0, percent <= 100 {
      self = .percent(percent)
    } else if let failures = Int(text), failures > 0 {
      self = .failures(failures)
    } else {
      throw TextProblem(
        "\(subject): “\(printableText(of: Array(text.utf8)))” is neither a count of failures such as 10 "
          + "nor a share of the sources such as 5%")
    }
  }

  /// A share is looked at once ten sources have ended: one failure first would be all of them.
  func isReached(by tally: JobTally) -> Bool {
    switch self {
    case .failures(let count): tally.failed >= count
    case .percent(let percent):
      tally.ended >= 10 && Double(tally.failed) * 100 >= percent * Double(tally.ended)
    }
  }

  public var description: String {
    switch self {
    case .failures(let count): "\(count)"
    case .percent(let percent): percent == percent.rounded() ? "\(Int(percent))%" : "\(percent)%"
    }
  }
}
