import Files
import Thumbnails

// The words of options and job files whose values are types of other targets or of nobody else.

/// How a run shows how it goes.
public enum ProgressStyle: String, Sendable, CaseIterable {
  /// A bar on a terminal, else plain lines.
  case auto
  case bar
  case plain
  case none
}

/// What a job does when memory gets critical.
public enum PressureResponse: String, Sendable, CaseIterable {
  /// Cancels what runs and waits, and does it again once there is memory.
  case requeue
  /// Cancels what runs and waits, and ends.
  case cancel
  /// Starts nothing until there is memory.
  case pause
  case ignore
}

extension KeptMetadata {
  static let words: KeyValuePairs<String, KeptMetadata> = ["icc": .icc, "exif": .exif, "copyright": .copyright]

  /// Words, each possibly several with commas between.
  ///
  /// - Throws: `TextProblem` naming `subject`, the option or key.
  public init(words: [String], for subject: String) throws(TextProblem) {
    self = []
    for word in words.flatMap({ $0.split(separator: ",") }) {
      guard let kind = Self.words.first(where: { $0.key == word }) else {
        throw TextProblem(
          "\(subject): “\(printableText(of: Array(word.utf8)))” is not one of "
            + Self.words.map(\.key).joined(separator: ", "))
      }
      insert(kind.value)
    }
  }
}

extension SizeSpec {
  /// What thumbnails are made of when nothing is said: a box of 256 × 256.
  static let standard = known("256")

  /// A size written in this program.
  static func known(_ text: String) -> SizeSpec {
    do { return try SizeSpec(parsing: text) } catch { preconditionFailure(error.description) }
  }

  /// - Throws: `TextProblem` naming `subject`, the option or key.
  public init(parsing text: String, for subject: String) throws(TextProblem) {
    do {
      try self.init(parsing: text)
    } catch {
      throw TextProblem(
        "\(subject): “\(printableText(of: Array(text.utf8)))” is not a size: \(error.reason); for example \(error.example)"
      )
    }
  }
}
