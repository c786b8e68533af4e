/// The body of a request, which comes piece by piece.
///
/// Only a few pieces of some kilobytes are read before someone asks for them. Then the sender has to wait.
package protocol PreviewBody: Sendable {
  /// How many bytes the client has announced; nil if it has not.
  var length: Int? { get }

  /// Lets a client go on that waits for `100 Continue`.
  func begin() async throws

  /// The next piece; nil at the end.
  ///
  /// - Throws: ``PreviewError`` if the body does not come whole, or too slowly; `CancellationError` if the client has left.
  func next() async throws -> [UInt8]?
}
