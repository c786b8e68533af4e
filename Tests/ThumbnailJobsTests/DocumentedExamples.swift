import BoundedQueue
import Foundation
import MemoryPressure
import Testing

// The examples of the documentation, word for word, where the compiler sees them.

final class CopyOperation: BoundedOperation, @unchecked Sendable {
  private let from: String
  private let to: String

  init(from: String, to: String) {
    self.from = from
    self.to = to
    super.init(title: "copy \(from) → \(to)")
  }

  override func execute() throws {
    report(stage: "copying")
    try checkCancelled()
    try FileManager.default.copyItem(atPath: from, toPath: to)
  }
}

func copyAll(_ names: [String]) throws {
  let queue = BoundedOperationQueue(name: "copies", max: 4)
  let observation = queue.observe { event in
    if case .ended(let outcome) = event.change { print(event.operation.title, outcome) }
  }
  for name in names {
    try queue.submit(CopyOperation(from: name, to: "/backup/" + name))  // waits while 4 run and 16 wait
  }
  queue.close()
  queue.drain()
  observation.cancel()
}

func watchMemory() throws {
  let monitor = try PressureMonitor { event in
    if case .changed(_, to: .critical, let cause) = event { print("giving memory back:", cause) }
  }
  print("memory pressure from", monitor.snapshot.signals)
}

@Suite struct DocumentedExamples {
  /// Every block of Swift in the documentation of the libraries and in the README stands in this file, so it compiles.
  @Test func everyExampleOfTheDocumentationCompiles() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    var documents = try ["BoundedQueue", "MemoryPressure"].flatMap { library in
      let room = root.appendingPathComponent("Sources/\(library)")
      return try FileManager.default.subpathsOfDirectory(atPath: room.path).filter { $0.hasSuffix(".swift") }
        .map { room.appendingPathComponent($0) }
    }
    documents.append(root.appendingPathComponent("README.md"))
    let compiled = try Self.lines(URL(fileURLWithPath: #filePath))
    var examples = 0
    for document in documents {
      var block: [String]?
      for line in try Self.lines(document) {
        switch (line, block) {
        case ("```swift", nil): block = []
        case ("```", let lines?):
          examples += 1
          block = nil
          #expect(Self.contains(compiled, lines), "\(document.lastPathComponent): \(lines.first ?? "")")
        case (_, let lines?): block = lines + (line.isEmpty || line == "import BoundedQueue" ? [] : [line])
        case (_, nil): break
        }
      }
    }
    #expect(examples == 6)
  }

  /// Without indentation and comment slashes.
  private static func lines(_ file: URL) throws -> [String] {
    try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let bare = line.trimmingCharacters(in: .whitespaces)
      return bare.hasPrefix("///") ? bare.dropFirst(3).trimmingCharacters(in: .whitespaces) : bare
    }
  }

  private static func contains(_ text: [String], _ lines: [String]) -> Bool {
    let text = text.filter { !$0.isEmpty }
    return !lines.isEmpty && text.indices.contains { text[$0...].starts(with: lines) }
  }
}
