import Files
import JobSettings
import Places

/// A kind of job, prepared for one job: what the parts of the job have to know of it before they are made.
protocol PreparedKind: Sendable {
  /// Makes what must be there before the parts.
  ///
  /// - Parameter isRead: whether nothing is made.
  /// - Returns: nil if the settings ask for another kind.
  init?(_ settings: JobSettings, isRead: Bool) throws(OutputError)

  /// The folder beside the results for what a run needs besides them, which is never walked; nil if there is none.
  var workingFolder: Path? { get }
  /// Whether the job needs a temporary folder for that, because there is none beside the results.
  var needsTemporaryFolder: Bool { get }
  /// Whether the walk is in the order of the names.
  var isSorted: Bool { get }
  /// Whether pictures are decoded.
  var decodesPictures: Bool { get }

  /// Adds the capabilities of the job, in the order in which the engine asks them, and makes its kind.
  func make(_ parts: JobParts) throws(OutputError) -> any JobKind
}
