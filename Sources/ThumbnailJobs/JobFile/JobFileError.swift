import Files

/// A mistake in a job file and its position: `jobs/gallery.yml:7:1: unknown key “qualty”; did you mean “quality”?`
public struct JobFileMistake: Sendable, Equatable, CustomStringConvertible {
  public let file: Path
  /// Lines and columns count from 1, columns in Unicode scalars. Line 0 means the whole file.
  public let line: Int
  public let column: Int
  public let message: String

  /// One line.
  public var description: String {
    line == 0 ? "\(file.printable): \(message)" : "\(file.printable):\(line):\(column): \(message)"
  }
}

/// A job file is not valid. The mistakes are sorted by line.
public struct JobFileError: Error, Sendable, Equatable, CustomStringConvertible {
  public let mistakes: [JobFileMistake]
  /// Whether there is no such file.
  public let isMissing: Bool

  init(_ mistakes: [JobFileMistake]) { (self.mistakes, isMissing) = (mistakes, false) }

  /// An error with one mistake, which concerns the whole file.
  public init(in file: Path, _ message: String, isMissing: Bool = false) {
    self.isMissing = isMissing
    mistakes = [JobFileMistake(file: file, line: 0, column: 0, message: message)]
  }

  /// One line for each mistake.
  public var description: String { mistakes.map(\.description).joined(separator: "\n") }
}
