import BoundedQueue
import Foundation
import PictureMaking
import TestSupport
import Testing
import TraceRecording

@Suite(.timeLimit(.minutes(5))) struct OperationTraceTests {
  private final class Work: BoundedOperation, @unchecked Sendable {
    override func execute() throws {
      if title.hasPrefix("broken") { throw CocoaError(.fileReadCorruptFile) }
    }
  }

  private struct Event: Decodable {
    let ph, name: String
    let tid, ts: Int
    let cat: String?
    let id: Int?
    let args: [String: String]?
  }

  private let folder = TemporaryFolder()
  private let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 2, backlog: 1000)

  /// The events of operations that a paused queue receives together.
  private func events(of operations: [Work]) async throws -> [Event] {
    let trace = try TraceRecorder(path: folder("trace.json"))
    let recorder = OperationTrace(trace)
    let observation = queue.observe { recorder.record($0) }
    queue.pause(.user)
    for operation in operations { #expect(try queue.trySubmit(operation)) }
    queue.resume(.user)
    try await queue.drain()
    observation.cancel()
    try trace.close()
    return try JSONDecoder().decode([Event].self, from: folder.bytes("trace.json"))
  }

  /// The arrows, as pairs of the titles of the marks where they begin and end.
  private func arrows(in events: [Event]) -> [[String]] {
    let marks = events.filter { $0.ph == "X" && $0.cat == "operation" }
    func title(_ end: Event?) -> String {
      marks.first { $0.ts == end?.ts && $0.tid == end?.tid }?.name ?? "no mark"
    }
    return events.filter { $0.ph == "s" }.map { begin in
      let end = events.first { $0.ph == "f" && $0.id == begin.id }
      #expect(begin.ts <= end?.ts ?? -1)
      return [title(begin), title(end)]
    }
  }

  @Test func arrowsLeadFromTheEndsOfDependenciesToTheStartsOfTheirDependants() async throws {
    let operations = ["a", "b", "sheet", "gallery", "alone"].map { Work(title: $0) }
    let (sheet, gallery) = (operations[2], operations[3])
    for other in operations.prefix(2) { sheet.addDependency(other) }
    for other in [operations[0], sheet] { gallery.addDependency(other) }
    let events = try await events(of: operations)
    let expected: Set = [["a", "sheet"], ["b", "sheet"], ["a", "gallery"], ["sheet", "gallery"]]
    let arrows = arrows(in: events)
    #expect(Set(arrows) == expected && arrows.count == 4)
    // The mark at its end comes after that at its start.
    let marks = events.filter { $0.ph == "X" && $0.name == "sheet" }.map(\.ts)
    #expect(marks.count == 2 && marks == marks.sorted())
    #expect(!events.contains { $0.ph == "X" && $0.name == "alone" }, "an operation without dependencies has no marks")
  }

  @Test func anArrowLeadsToTheEndOfADependantThatCouldNotStart() async throws {
    let (broken, sheet) = (Work(title: "broken"), Work(title: "sheet"))
    sheet.addDependency(broken)
    let events = try await events(of: [broken, sheet])
    #expect(arrows(in: events) == [["broken", "sheet"]])
    let end = events.first { $0.ph == "e" && $0.id == sheet.id && $0.args?["note"] != nil }
    #expect(end?.args?["note"]?.hasPrefix("cancelled while waiting") == true)
  }

  @Test func ofManyDependenciesTheLastHaveArrows() async throws {
    let operations = (1...150).map { Work(title: "\($0)") }
    let sheet = Work(title: "sheet")
    for operation in operations { sheet.addDependency(operation) }
    queue.changeLimits { $0.maxConcurrentOperations = 1 }
    let arrows = arrows(in: try await events(of: operations + [sheet]))
    #expect(arrows.count == OperationTrace.arrowsPerOperation)
    #expect(arrows.first == ["51", "sheet"] && arrows.last == ["150", "sheet"])
  }
}
