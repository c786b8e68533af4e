import ArgumentParser
import Foundation
import Testing

@testable import JobSettings
@testable import Jobs
@testable import MemoryPressure
@testable import PictureMaking
@testable import Sourcing
@testable import thumbjob

@Suite struct JSONLinesTests {
  /// The names in the first column of a section's table in docs/json.md.
  private func documented(_ title: String) throws -> Set<String> {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/json.md").standardized
    let sections = try String(contentsOf: file, encoding: .utf8).split(separator: "\n## ")
    let section = try #require(sections.first { $0.hasPrefix("\(title)\n") })
    return section.split(separator: "\n").reduce(into: []) { names, line in
      guard line.hasPrefix("| `"), let cell = line.split(separator: "|").first else { return }
      for name in cell.matches(of: /`(\w+)`/) { names.insert(String(name.1)) }
    }
  }

  /// The names of a line's fields, also of those that are omitted now.
  private func names(_ line: some Encodable) -> Set<String> {
    Set(
      Mirror(reflecting: line).children.map { child in
        child.label!.replacing(/[A-Z]/) { "_" + $0.output.lowercased() }
      })
  }

  @Test func everyFieldIsDocumented() throws {
    let source = Source(path: "a.jpg", relativePath: "a.jpg", argument: 0, origin: .argument)
    let line = names(SourceLine(SourceReport(source: source, result: .made), isDryRun: false))
    #expect(try documented("A source") == line.union(names(ChecksumFields(sha256: ""))))
    #expect(
      try documented("A place that could not be read")
        == names(WalkErrorLine(WalkError(.unreadable, "a", argument: 0))))
    #expect(
      try documented("A change of memory pressure")
        == names(PressureLine(PressureNote(level: .normal, cause: nil, action: .none, isChange: false))))
    #expect(try documented("A watch") == names(WatchLine(.ready(folders: 1))))
    #expect(try documented("A removed thumbnail") == names(RemovalLine("a.jpg", .success(1))))
    let summary = names(SummaryLine(.known(), JobSettings(), exitCode: .success))
    #expect(try documented("The summary") == summary.union(JobTally().numbers(for: .summary).keys))
    #expect(try documented("A split") == names(SplitLine(.known(), "lists", .success)))
  }
}
