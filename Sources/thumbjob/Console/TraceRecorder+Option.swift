import Files
import TraceRecording

/// The trace that the option `--trace` asks for.
extension TraceRecorder {
  /// - Throws: ``StartError`` if the file cannot be created.
  static func open(_ path: Path?) throws(StartError) -> TraceRecorder? {
    guard let path else { return nil }
    do {
      return try path.withCString { name throws(TraceError) in try TraceRecorder(path: name, name: path.printable) }
    } catch {
      throw StartError("--trace: \(error)", .cannotCreateOutput)
    }
  }
}

extension TraceRecorder? {
  /// Writes the rest of it.
  ///
  /// - Returns: false if the trace is incomplete. A line on the console says so.
  @discardableResult
  func close(on console: Console) -> Bool {
    do {
      try self?.close()
      return true
    } catch {
      console.print("thumbjob: --trace: \(error); the trace is incomplete", .failure)
      return false
    }
  }
}
