/// The routes and words of a kind of preview server, whose clients are answered.
///
/// One goes with its folder and its line in ``PreviewDialects``.
protocol Dialect: Sendable {
  /// A word for metrics.
  var name: String { get }
  /// What the form field with the picture is called; the first file of a form if nil.
  var field: String? { get }

  /// What a request asks for.
  ///
  /// - Returns: nil if its path is not of this dialect.
  /// - Throws: ``PreviewError``.
  func call(for head: RequestHead) throws(PreviewError) -> PreviewCall?
}
