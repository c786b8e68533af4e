/// The operation that the current thread carries out, for ``Confined``.
///
/// Foundation knows the current queue of a thread, but not its operation. So whoever carries out operations says which one
/// is next.
package enum CurrentOperation {
  /// A frame of the thread's stack that carries out an operation.
  private struct Frame {
    let id: Int
    let title: String
  }

  /// The innermost frame.
  private static let frame = ThreadPointer()

  /// Calls `body`, which is the work of an operation.
  ///
  /// - Parameter id: unique within the process, and not zero.
  package static func with<Result, Failure: Error>(
    _ id: Int, _ title: String, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let outer = frame.value
    var own = Frame(id: id, title: title)
    return try withUnsafeMutablePointer(to: &own) { own throws(Failure) in
      frame.value = UnsafeMutableRawPointer(own)
      defer { frame.value = outer }
      return try body()
    }
  }

  /// The number of the operation; zero outside of all.
  static var id: Int { frame.value?.assumingMemoryBound(to: Frame.self).pointee.id ?? 0 }

  /// Such as "operation #12 thumbnail a.jpg"; nil outside of all.
  static var name: String? {
    frame.value.map {
      let frame = $0.assumingMemoryBound(to: Frame.self).pointee
      return "operation #\(frame.id) \(frame.title)"
    }
  }
}
