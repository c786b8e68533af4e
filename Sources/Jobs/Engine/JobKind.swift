import Files
import Places
import Sourcing

/// What a job makes of each of its sources.
///
/// *Concurrency*: from any thread.
protocol JobKind: Sendable {
  /// Where the results of a source go, and whether it gets that place.
  ///
  /// - Parameter source: is told whether another one may want its place.
  func placement(of source: inout Source) -> OutputPlan.Placement

  /// Looks at the files that are in the places of a candidate's results, not at what is in them.
  func look(at candidate: inout Candidate)

  /// Decides whether the results of a candidate are up to date, if nobody remembers it.
  func judge(_ candidate: inout Candidate)

  /// The operation that makes the results.
  func operation(for task: SourceTask) -> SourceOperation
}
