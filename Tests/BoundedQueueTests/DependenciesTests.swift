import TestSupport
import Testing

@testable import BoundedQueue

/// The account of what an operation waits for, step by step: the moments between two steps are too short to meet in a test of
/// the queue.
@Suite struct DependenciesTests {
  private let failing = Work("failing")
  private let succeeding = Work("succeeding")
  private var failure: FailedDependency {
    FailedDependency(operation: OperationName(failing), ending: "failed", error: Deliberate())
  }

  /// While one thread is about to cancel the operation, another one tells it of the last end.
  @Test(arguments: [false, true]) func anOperationThatIsAboutToBeCancelledDoesNotBecomeReady(duringSubmission: Bool) {
    var dependencies = Dependencies()
    for operation in [failing, succeeding] { dependencies.add(operation, allowsFailure: false, readAs: nil) }
    dependencies.beginSubmission()
    var isReady = duringSubmission ? false : dependencies.endSubmission()
    let consequences = [
      dependencies.ended(failing, failure: failure), dependencies.ended(succeeding, failure: nil),
    ]
    if duringSubmission { isReady = dependencies.endSubmission() }
    #expect(consequences == [.cancelled, .none] && !isReady && dependencies.waits)
  }

  @Test func anOperationThatAllowsTheFailureBecomesReady() {
    var dependencies = Dependencies()
    dependencies.add(failing, allowsFailure: true, readAs: nil)
    dependencies.add(succeeding, allowsFailure: false, readAs: nil)
    dependencies.beginSubmission()
    let isReady = dependencies.endSubmission()
    let consequences = [
      dependencies.ended(failing, failure: failure), dependencies.ended(succeeding, failure: nil),
    ]
    #expect(!isReady && consequences == [.none, .ready] && !dependencies.waits)
  }
}
