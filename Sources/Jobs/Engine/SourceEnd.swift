import Files
import Sourcing

/// The end of the work on a source.
struct SourceEnd {
  let source: Source
  var result: SourceResult
  /// What its last operation has found out.
  var findings = SourceFindings()
  /// The last operation; nil if none was submitted.
  let operation: SourceOperation?

  /// The place of its results; nil if it has none.
  var place: Path? { operation?.place }

  var report: SourceReport {
    SourceReport(
      source: source, result: result, thumbnails: findings.thumbnails, line: findings.line,
      warnings: findings.warnings, shortfall: findings.shortfall, bytes: operation == nil ? nil : findings.file?.bytes,
      operation: operation?.snapshot())
  }
}
