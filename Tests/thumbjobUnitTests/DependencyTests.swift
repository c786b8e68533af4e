import Files
import StatusEndpoint
import TestSupport
import Testing

@testable import BoundedQueue
@testable import Jobs
@testable import thumbjob

/// What the status endpoint and USR1 show of operations that wait for others.
@Suite(.timeLimit(.minutes(5))) struct DependencyTests {
  private final class Work: BoundedOperation, @unchecked Sendable {
    override func execute() throws {
      if title.contains("broken") { throw ThumbnailFailure() }
    }
  }

  private struct ThumbnailFailure: Error, CustomStringConvertible {
    let description = "cut off"
  }

  private let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 2, backlog: 200)

  /// Submits operations to the paused queue, and one that waits for all of them.
  private func page(after photos: [String]) throws -> (work: [Work], page: Work) {
    queue.pause(.user)
    let work = photos.map { Work(title: "thumbnail \($0) → 256x256", kind: "thumbnail", subject: $0) }
    let page = Work(title: "contact sheet sheet.pdf, page 3", kind: "contact sheet", subject: "sheet.pdf")
    for operation in work { page.addDependency(operation) }
    for operation in work + [page] { #expect(try queue.trySubmit(operation)) }
    return (work, page)
  }

  private func listing(columns: Int? = nil) -> [String] {
    let status = JobStatus(
      tally: JobTally(), queue: queue.snapshot(), fetches: nil, fetched: nil, listing: nil, elapsed: .zero, total: nil,
      stopCause: nil,
      pressure: nil,
      watch: nil)
    return QueueListing.text(status, columns: columns, "…").split(separator: "\n").map { String($0) }
  }

  @Test func thePageNamesTheThumbnailsThatItWaitsFor() async throws {
    let (work, page) = try page(after: ["a/b.jpg", "c → d.jpg"])
    let status = OperationStatus(page.snapshot())
    #expect(status.source == nil && status.description == "contact sheet sheet.pdf, page 3")
    #expect(status.waitsFor == work.map(\.id) && status.waitsForCount == 2 && status.neededBy == nil)
    #expect(status.waitReason == "waits for #\(work[0].id) and #\(work[1].id)")
    let first = OperationStatus(work[0].snapshot())
    #expect(OperationStatus(work[1].snapshot()).source?.path == "c → d.jpg")
    #expect(first.source?.path == "a/b.jpg" && first.neededBy == 1 && first.waitsFor == nil)
    #expect(first.waitReason == "the queue is paused by the user")
    let lines = listing()
    #expect(lines[1] == "thumbjob: 3 of 200 waiting, 1 of them for others: the queue is paused by the user")
    #expect(lines[4].hasPrefix("  #\(page.id) contact sheet sheet.pdf, page 3: waiting 0.0 s, waits for #"))
    #expect(lines[4].hasSuffix(", waits for #\(work[0].id) and #\(work[1].id)"))
    queue.resume(.user)
    try await queue.drain()
    let ended = OperationStatus(page.snapshot())
    #expect(ended.waitsFor == nil && ended.waitReason == nil)
    #expect(!listing().joined().contains("others"), "nothing waits for others any more")
  }

  @Test(arguments: [40, 80, 200]) func onATerminalTheListingIsAsWideAsThat(columns: Int) throws {
    _ = try page(after: (1...20).map { "photos/of a summer that was long/2026/写真 \($0).jpg" })
    let lines = listing(columns: columns)
    #expect(
      lines.dropFirst().contains("thumbjob: 21 of 200 waiting, 1 of them for others: the queue is paused by the user"))
    for line in lines where line.hasPrefix("  ") { #expect(line.displayWidth <= columns, "\(line)") }
    #expect(lines.contains { $0.hasSuffix(" 20.jpg: 0.0 s") } || columns != 80, "\(lines)")
    #expect(!lines.contains { $0.hasPrefix("  ") && $0.contains("paused") })
    queue.cancelAll(reason: .user)
  }

  @Test func manyDependenciesAreShortened() throws {
    let (work, page) = try page(after: (1...150).map { "\($0).jpg" })
    let status = OperationStatus(page.snapshot())
    #expect(status.waitsFor == work.prefix(100).map(\.id) && status.waitsForCount == 150)
    let first = work.prefix(3).map { "#\($0.id)" }.joined(separator: ", ")
    #expect(status.waitReason == "waits for \(first) and 147 more")
    #expect(listing().last { $0.contains(" page 3: ") }?.hasSuffix(", waits for \(first) and 147 more") == true)
    queue.cancelAll(reason: .user)
  }

  @Test func aPageCancelledForAThumbnailNamesIt() async throws {
    let (work, page) = try page(after: ["broken.jpg"])
    queue.resume(.user)
    try await queue.drain()
    let status = OperationStatus(page.snapshot())
    #expect(status.state == .cancelled)
    #expect(
      status.reason == "cancelled because #\(work[0].id) thumbnail broken.jpg → 256x256 failed: cut off")
    #expect(listing().contains { $0.hasSuffix(" cancelled · 1 cancelled for a dependency") })
    let counters = RunCounters(
      JobStatus(
        tally: JobTally(), queue: queue.snapshot(), fetches: nil, fetched: nil, listing: nil, elapsed: .zero,
        total: nil,
        stopCause: nil,
        pressure: nil,
        watch: nil))
    #expect(counters.cancelledForDependencies == 1 && counters.waitingForDependencies == 0)
  }
}
