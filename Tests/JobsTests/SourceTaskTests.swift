import BoundedQueue
import Fetching
import Testing

@testable import JobSettings
@testable import Jobs
@testable import MemoryPressure
@testable import PictureMaking
@testable import Places
@testable import Sourcing

/// What follows each end of an operation on a source.
@Suite(.timeLimit(.minutes(1))) struct SourceTaskTests {
  private let source = Source(path: "a.jpg", relativePath: "a.jpg", argument: 0, origin: .folder)

  private func task(_ work: SourceTask.Work, timesCancelled: Int = 0) -> SourceTask {
    SourceTask(source: source, place: "a.jpg", work: work, timesCancelled: timesCancelled)
  }

  private func conditions(
    stop: CancelReason? = nil, requeues: Bool = true, describes: Bool = false
  ) -> SourceTask.Conditions {
    SourceTask.Conditions(stop: stop, requeues: requeues, describes: describes, timeout: .seconds(3))
  }

  /// A step in a few words, such as "go on: make, 1 times" and "cancelled by USR2".
  private func text(_ step: SourceTask.Step) -> String {
    switch step {
    case .upToDate: "up to date"
    case .goOn(let task): "go on: \(task.work)" + (task.timesCancelled > 0 ? ", \(task.timesCancelled) times" : "")
    case .end(.made): "made"
    case .end(.cancelled(let reason)): "cancelled \(reason)"
    case .end(.failed(let failure)): "failed: \(failure)"
    case .end(let result): "\(result)"
    }
  }

  private func next(
    _ work: SourceTask.Work, _ ending: SourceTask.Ending, _ conditions: SourceTask.Conditions
  ) -> String {
    text(task(work).next(after: ending, in: conditions))
  }

  @Test func whatASourceTurnsOutToBeIsItsResult() {
    let now = conditions(describes: true)
    #expect(next(.make, .made(.made), now) == "made")
    #expect(next(.make, .made(.notImage(format: nil)), now) == "notImage(format: nil)")
    #expect(next(.make, .failed(.other("cut off")), now) == "failed: cut off")
    let timeout = "failed: \(SourceFailure.timeout(.seconds(3)))"
    #expect(next(.make, .cancelled(.timeout, hasHeldMemory: true), now) == timeout)
    #expect(next(.make, .cancelled(.user, hasHeldMemory: true), now) == "cancelled \(CancelReason.user)")
  }

  @Test func aComparisonLeadsToNewThumbnailsOrToNothing() {
    #expect(next(.verify(known: 1), .verified(hash: 2, isUnchanged: false), conditions()) == "go on: make")
    #expect(next(.verify(known: 1), .verified(hash: 1, isUnchanged: true), conditions()) == "up to date")
    let moved = RecognizedSource(results: .ofGone("/a.jpg", at: "a.jpg", isOfJob: true), hash: 1)
    #expect(next(.recognize(moved), .verified(hash: 2, isUnchanged: false), conditions()) == "go on: make")
    #expect(next(.recognize(moved), .verified(hash: 1, isUnchanged: true), conditions()) == "up to date")
    let describes = conditions(describes: true)
    #expect(next(.verify(known: 1), .verified(hash: 1, isUnchanged: true), describes) == "go on: describe")
    #expect(next(.make, .unchanged, describes) == "go on: describe")
    #expect(next(.make, .unchanged, conditions()) == "up to date")
  }

  @Test func aSourceIsMadeAgainWhereMoreOfItIsThereOrItsPlaceIsFree() {
    for ending in [SourceTask.Ending.incomplete, .unblocked, .cancelled(.postponed, hasHeldMemory: false)] {
      #expect(next(.make, ending, conditions()) == "go on: make")
    }
  }

  @Test func afterTheThirdCancellationForMemoryASourceIsLeft() {
    let ending = SourceTask.Ending.cancelled(.pressure, hasHeldMemory: true)
    var task = task(.make)
    for times in 1...2 {
      guard case .goOn(let next) = task.next(after: ending, in: conditions()) else {
        Issue.record("left after \(times)")
        return
      }
      #expect(next.timesCancelled == times)
      task = next
    }
    #expect(text(task.next(after: ending, in: conditions())) == "cancelled \(CancelReason.pressure)")
    #expect(
      text(task.next(after: .cancelled(.pressure, hasHeldMemory: false), in: conditions())) == "go on: make, 2 times",
      "one that held no memory is not to blame")
    #expect(next(.make, ending, conditions(requeues: false)) == "cancelled \(CancelReason.pressure)")
  }

  @Test func nothingFollowsWhereTheJobStops() {
    let stopping = conditions(stop: .shutdown, describes: true)
    let stopped = "cancelled \(CancelReason.shutdown)"
    let endings: [(SourceTask.Ending, String)] = [
      (.incomplete, stopped), (.unblocked, stopped), (.cancelled(.postponed, hasHeldMemory: false), stopped),
      (.verified(hash: 1, isUnchanged: true), stopped), (.verified(hash: 2, isUnchanged: false), stopped),
      (.unchanged, "up to date"), (.cancelled(.pressure, hasHeldMemory: true), "cancelled \(CancelReason.pressure)"),
    ]
    for (ending, expected) in endings { #expect(next(.make, ending, stopping) == expected, "\(ending)") }
  }

  /// What was fetched takes disk space, for which others may wait.
  @Test func anOperationLetsGoOfItsFetch() throws {
    let network = Network(
      NetworkSettings(), folder: "unused", program: "0", sources: 1, fetches: true, keeps: false)
    let address = try RemoteAddress(parsing: Array("http://127.0.0.1/a.jpg".utf8))
    let memory = MemoryPlan(
      nil, limit: MemoryLimit(bytes: 1 << 30, origin: .machine), usage: MemoryUsage(resident: 0, group: nil))
    let shared = ThumbnailOperation.Shared(
      outputs: [],
      owners: Owners(
        remembered: { _ in [] }, forget: { _ in }, plan: OutputPlan(walker: SourceWalker(arguments: [])), tree: nil),
      memory: memory, decoders: PictureDecoders(.auto, mostIdle: 1) { _ in }, retries: 0, trace: nil, underWay: nil,
      onThumbnail: nil)
    var task = task(.make)
    let fetch = FetchOperation(source, address, known: nil, options: [], network)
    task.supply = fetch
    let operation = ThumbnailOperation(task, shared: shared)
    #expect(operation.taskSoFar.supply === fetch && operation.task.supply == nil)
    operation.prepareNext(after: .incomplete)
    #expect(operation.taskSoFar.supply !== fetch && operation.taskSoFar.supply != nil && fetch.isCancelled)
    operation.release()
    #expect(operation.taskSoFar.supply == nil)
  }
}
