import Files

/// A mistake in a job file and its position: `jobs/gallery.yml:7:1: unknown key “qualty”; did you mean “quality”?`
package struct JobFileMistake: Sendable, Equatable, CustomStringConvertible {
  package let file: Path
  /// Lines and columns count from 1, columns in Unicode scalars. Line 0 means the whole file.
  package let line: Int
  package let column: Int
  package let message: String

  /// One line.
  package var description: String {
    line == 0 ? "\(file.printable): \(message)" : "\(file.printable):\(line):\(column): \(message)"
  }
}

/// A job file is not valid. The mistakes are sorted by line.
package struct JobFileError: Error, Sendable, Equatable, CustomStringConvertible {
  package let mistakes: [JobFileMistake]
  /// Whether there is no such file.
  package let isMissing: Bool

  init(_ mistakes: [JobFileMistake]) { (self.mistakes, isMissing) = (mistakes, false) }

  /// An error with one mistake, which concerns the whole file.
  package init(in file: Path, _ message: String, isMissing: Bool = false) {
    self.isMissing = isMissing
    mistakes = [JobFileMistake(file: file, line: 0, column: 0, message: message)]
  }

  /// One line for each mistake.
  package var description: String { mistakes.map(\.description).joined(separator: "\n") }
}
