import Files
import Foundation
import TestSupport
import Testing

@testable import StatusEndpoint

/// The values that the endpoint keeps: thumbnails, ended operations, durations, and the history.
@Suite struct ValueTests {
  private func insert(_ count: Int, bytes: Int, into thumbnails: LatestThumbnails) {
    for number in 1...count {
      [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: bytes).withUnsafeBytes {
        thumbnails.insert($0, operation: number, source: Path("\(number).jpg"), width: 3, height: 2)
      }
    }
  }

  @Test func theLatestThumbnailsStayWithinTheirBytes() {
    let thumbnails = LatestThumbnails(capacity: 1000)
    insert(10, bytes: 200, into: thumbnails)
    #expect(thumbnails.list.thumbnails.map(\.operation) == [10, 9, 8, 7, 6])
    #expect(thumbnails.bytesKept == 1000)
    #expect(thumbnails.file(10)?.bytes == [UInt8](repeating: 10, count: 200))
    #expect(thumbnails.file(5) == nil)
    insert(1, bytes: 251, into: thumbnails)  // more than a quarter
    #expect(thumbnails.list.thumbnails.first?.operation == 10)
    insert(100, bytes: 1, into: thumbnails)
    #expect(thumbnails.list.thumbnails.count == 48)
  }

  @Test func thumbnailsAreReleasedAndTheirIDsAreNotReused() {
    let thumbnails = LatestThumbnails(capacity: 1000)
    insert(2, bytes: 10, into: thumbnails)
    thumbnails.removeAll()
    #expect(thumbnails.list.thumbnails.isEmpty && thumbnails.bytesKept == 0)
    insert(1, bytes: 10, into: thumbnails)
    #expect(thumbnails.list.thumbnails.map(\.id) == [3])
  }

  @Test func tightMemoryTakesTheOlderHalfOfTheThumbnails() {
    let thumbnails = LatestThumbnails(capacity: 1000)
    insert(8, bytes: 100, into: thumbnails)
    #expect(thumbnails.file(1)?.bytes.count == 100, "what a client looks at does not stay for longer")
    thumbnails.trim()
    #expect(thumbnails.list.thumbnails.map(\.id) == [8, 7, 6, 5] && thumbnails.bytesKept == 400)
    for _ in 0..<3 { thumbnails.trim() }
    #expect(thumbnails.list.thumbnails.isEmpty)
  }

  @Test func aThumbnailIsServedAsAPictureOnly() async throws {
    let served = try await ServedRun.open()
    insert(1, bytes: 300, into: served.thumbnails)
    let list: LatestThumbnails.List = try await served.ask("GET", "/thumbnails").decoded()
    #expect(list.thumbnails.map(\.source.path) == ["1.jpg"])
    let answer = try await served.ask("GET", "/thumbnails/1")
    #expect(answer.body.count == 300 && answer.headers["content-type"] == "image/jpeg")
    #expect(answer.headers["x-content-type-options"] == "nosniff")
    #expect(try await served.ask("GET", "/thumbnails/2").status == 404)
  }

  private func ended(_ id: Int, _ state: OperationStatus.State) -> OperationStatus {
    OperationStatus(id: id, description: "", source: "", state: state, waitedSeconds: 0, ranSeconds: 0)
  }

  @Test func successesDoNotDisplaceFailures() {
    let recent = RecentOperations(capacity: 3)
    recent.add(1, isDone: false) { ended(1, .failed) }
    for id in 2...10 { recent.add(id, isDone: true) { ended(id, .finished) } }
    #expect(Set(recent.operations(OperationQuery(states: [.finished])).map(\.id)) == [8, 9, 10])
    #expect(recent.operations(OperationQuery(states: [.failed])).map(\.id) == [1])
    #expect(recent.operations(OperationQuery(states: [.cancelled, .running])).isEmpty)
    #expect(recent.operation(7) == nil && recent.operation(8)?.id == 8 && recent.operation(1)?.id == 1)
  }

  @Test func anOperationThatEndsDuringListingIsListedOnce() {
    let both = [ended(1, .running), ended(1, .finished), ended(2, .running)]
    let page = OperationPage(OperationQuery(states: [.running, .finished]), from: both)
    #expect(page.operations.map(\.state) == [.finished, .running])
  }

  @Test func anOperationListsAHundredOfThoseItWaitsForAndTheirNumber() throws {
    func json(_ status: OperationStatus) throws -> [String: Any] {
      let bytes = JSONText.encode(status)
      #expect(try JSONText.decode(OperationStatus.self, from: bytes) == status)
      return try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
    }
    let many = OperationStatus(
      id: 1001, description: "manifest photos.json", source: nil, state: .waiting, waitedSeconds: 0, ranSeconds: 0,
      waitsFor: Array(1...1000), neededBy: 2)
    #expect(try json(many)["waits_for"] as? [Int] == Array(1...100))
    #expect(try json(many)["waits_for_count"] as? Int == 1000 && json(many)["needed_by"] as? Int == 2)
    #expect(try json(many)["source"] == nil)
    // An ordinary operation has none of these fields.
    #expect(try Set(json(ended(1, .waiting)).keys).isDisjoint(with: ["waits_for", "waits_for_count", "needed_by"]))
    #expect(try json(ended(1, .waiting))["source"] as? String == "")
  }

  @Test func aDurationFallsIntoTheFirstBucketWhoseBoundIsNotBelowIt() {
    let histogram = DurationHistogram()
    for seconds in [0, 0.001, 0.0011, 60, 61] { histogram.record(.seconds(seconds)) }
    let buckets = histogram.counts.buckets
    #expect(buckets.first == 2 && buckets[1] == 1 && buckets[11] == 1 && buckets[12] == 1)
    #expect(buckets.reduce(0, +) == 5)
    #expect(abs(histogram.counts.sum - 121.0021) < 1e-6)
  }

  @Test func theHistoryKeepsTheLastTenMinutes() {
    let (history, run) = (RunHistory(), FakeRun())
    var status = run.status(listing: 0)
    for second in 1...RunHistory.capacity + 5 {
      status.elapsedSeconds = Double(second)
      status.counters.thumbnails = 3 * second
      history.add(status)
    }
    let columns = history.columns
    #expect(columns.elapsedSeconds == (6...605).map(Double.init))
    #expect(columns.thumbnails == (6...605).map { 3 * $0 })
    #expect(columns.running.count == 600 && columns.pressure.last == .warning)
  }
}
