import Files

/// Why no decoder process can be started.
package enum DecoderObstacle: Sendable, Equatable {
  /// None of these folders has the program of this name.
  case missing(String, folders: [Path])
  /// The program has no permission to run.
  case notExecutable(Path)
}
