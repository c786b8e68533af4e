import BoundedQueue
import Foundation
import Locking
import TestSupport
import Testing

// The examples of the articles for those who come from another way to run work, word for word, so that the compiler checks
// them. `DocumentedExamples` compares them with the articles.

func lines(in contents: Data) -> Int { contents.count { $0 == UInt8(ascii: "\n") } }

func countLinesWithDispatch(in files: [URL]) throws -> Int {
  let total = Locked(0)
  let group = DispatchGroup()
  for file in files {
    let contents = try Data(contentsOf: file)
    DispatchQueue.global().async(group: group) {
      let count = lines(in: contents)
      total.withLock { $0 += count }
    }
  }
  group.wait()
  return total.withLock { $0 }
}

func countLinesWithSemaphore(in files: [URL]) throws -> Int {
  let total = Locked(0)
  let (group, room) = (DispatchGroup(), DispatchSemaphore(value: 8))
  for file in files {
    room.wait()
    DispatchQueue.global().async(group: group) {
      defer { room.signal() }
      guard let contents = try? Data(contentsOf: file) else { return }  // the error is lost
      let count = lines(in: contents)
      total.withLock { $0 += count }
    }
  }
  group.wait()
  return total.withLock { $0 }
}

func countLines(in files: [URL]) throws -> Int {
  let total = Locked(0)
  let queue = BoundedOperationQueue(name: "line counts", maxConcurrentOperations: 4, backlog: 4)
  queue.observe { event in
    if case .ended(.failed(let error)) = event.change { print(event.operation.title, error) }
  }
  for file in files {
    let contents = try Data(contentsOf: file)
    let operation = ResultOperation(title: "count lines of \(file.path)") {
      let count = lines(in: contents)
      total.withLock { $0 += count }
    }
    try queue.submitBlocking(operation)  // waits while 4 run and 4 wait
  }
  queue.close()
  queue.drainBlocking()
  return total.withLock { $0 }
}

final class PlainChecksum: Operation, @unchecked Sendable {  // others read the two results only after the end
  private let file: URL
  private(set) var sum: UInt32?
  private(set) var error: (any Error)?

  init(_ file: URL) { self.file = file }

  override func main() {
    if isCancelled { return }
    do {
      sum = try Data(contentsOf: file).reduce(0) { $0 &* 31 &+ UInt32($1) }
    } catch {
      self.error = error
    }
  }
}

func checksumsWithOperationQueue(of files: [URL]) throws -> [UInt32] {
  let queue = OperationQueue()
  queue.maxConcurrentOperationCount = 4
  let operations = files.map { PlainChecksum($0) }
  for operation in operations { queue.addOperation(operation) }  // never waits
  queue.waitUntilAllOperationsAreFinished()
  return try operations.map { operation in
    if let error = operation.error { throw error }
    guard let sum = operation.sum else { throw CancellationError() }
    return sum
  }
}

final class Checksum: ResultOperation<UInt32>, @unchecked Sendable {  // adds a constant
  private let file: URL

  init(_ file: URL) {
    self.file = file
    super.init(title: "checksum of \(file.path)", kind: "checksum", subject: file.path)
  }

  override func makeResult() throws -> UInt32 {
    var sum: UInt32 = 0
    for (index, byte) in try Data(contentsOf: file).enumerated() {
      if index.isMultiple(of: 1 << 16) { try checkCancelled() }
      sum = sum &* 31 &+ UInt32(byte)
    }
    return sum
  }
}

func checksums(of files: [URL]) async throws -> [UInt32] {
  try await withBoundedQueue(name: "checksums", maxConcurrentOperations: 4) { queue in
    var operations: [Checksum] = []
    for file in files {
      let operation = Checksum(file)
      try await queue.submit(operation)  // suspends while 4 run and 16 wait
      operations.append(operation)
    }
    var sums: [UInt32] = []
    for operation in operations { sums.append(try await operation.result) }
    return sums
  }
}

func backUp(_ file: URL, to copy: URL, on queue: BoundedOperationQueue) throws -> [BoundedOperation] {
  let copying = ResultOperation(title: "copy \(file.path)") {
    try FileManager.default.copyItem(at: file, to: copy)
    return copy
  }
  let comparison = ResultOperation(title: "compare \(copy.path)", after: copying) { copy in
    FileManager.default.contentsEqual(atPath: file.path, andPath: copy.path)
  }
  let report = ResultOperation(title: "report") { print(comparison) }
  report.addDependency(comparison, allowsFailure: true)  // also after a failure, as in Foundation
  report.queuePriority = .high
  let operations = [copying, comparison, report] as [BoundedOperation]
  for operation in operations { try queue.submitBlocking(operation) }  // each after those that it depends on
  return operations
}

func titlesWithTaskGroup(of pages: [URL]) async throws -> [String] {
  try await withThrowingTaskGroup(of: (Int, String).self) { group in
    var titles = Array(repeating: "", count: pages.count)
    for (index, page) in pages.enumerated() {
      if index >= 8, let (done, title) = try await group.next() { titles[done] = title }  // a window of 8
      group.addTask { (index, try await title(of: page)) }
    }
    for try await (done, title) in group { titles[done] = title }
    return titles
  }
}

func titles(of pages: [URL]) async throws -> [String] {
  // At most two requests to one host.
  try await withBoundedQueue(name: "titles", maxConcurrentOperations: 8, perKey: 2) { queue in
    var operations: [ResultOperation<String>] = []
    for page in pages {
      let operation = ResultOperation(title: "title of \(page)", key: page.host()) { try await title(of: page) }
      try await queue.submit(operation)
      operations.append(operation)
    }
    var titles: [String] = []
    for operation in operations { titles.append(try await operation.result) }
    return titles
  }
}

func cancelStuck(in queue: BoundedOperationQueue, after limit: Duration) {
  let snapshot = queue.snapshot(waitingLimit: 0)
  print("\(snapshot.counters.running) run, \(snapshot.counters.waiting) wait")
  for operation in snapshot.running where operation.ran > limit {
    print("cancelling", operation)
    queue.cancel(id: operation.id, reason: .timeout)
  }
}

/// Stands for a request of the reader's.
private func title(of page: URL) async throws -> String {
  if page.path() == "/missing" { throw CocoaError(.fileNoSuchFile) }
  return "page \(page.path())"
}

/// What the examples of the articles compute.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ArticleExamples {
  func queue(max: Int = 2, clock: any Clock<Duration> = ContinuousClock()) -> BoundedOperationQueue {
    BoundedOperationQueue(name: "test", maxConcurrentOperations: max, clock: clock)
  }

  /// Calls `body` with files, of which each has as many lines as its number.
  func withFiles(_ count: Int, _ body: ([URL]) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "articles-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = (0..<count).map { folder.appending(path: "\($0)") }
    for (number, file) in files.enumerated() {
      try Data(String(repeating: "line\n", count: number).utf8).write(to: file)
    }
    try await body(files)
  }

  @Test func everyWayCountsTheSameLines() async throws {
    try await withFiles(30) { files in
      let counts = try await onThread {
        try [countLinesWithDispatch(in: files), countLinesWithSemaphore(in: files), countLines(in: files)]
      }
      #expect(counts == [435, 435, 435])
    }
  }

  @Test func bothQueuesComputeTheSameChecksums() async throws {
    try await withFiles(30) { files in
      let plain = try await onThread { try checksumsWithOperationQueue(of: files) }
      #expect(try await checksums(of: files) == plain && Set(plain).count == 30)
    }
    let missing = [URL(filePath: "/missing")]
    await #expect(throws: CocoaError.self) { try await checksums(of: missing) }
    await #expect(throws: CocoaError.self) { try await onThread { try checksumsWithOperationQueue(of: missing) } }
  }

  @Test func aBackupIsComparedAndReportedAlsoIfItFails() async throws {
    try await withFiles(2) { files in
      let endings = try await onThread {
        let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 2)
        let works = try backUp(files[1], to: files[1].appendingPathExtension("copy"), on: queue)
        let fails = try backUp(files[1], to: files[0], on: queue)
        queue.drainBlocking()
        return (works + fails).map { $0.outcome?.words.prefix(9) }
      }
      #expect(endings == ["succeeded", "succeeded", "succeeded", "failed: E", "cancelled", "succeeded"])
    }
  }

  @Test func theQueueFindsTheSameTitlesAsTheGroup() async throws {
    let pages = (0..<30).compactMap { URL(string: "https://host\($0 % 3).example/\($0)") }
    let expected = (0..<30).map { "page /\($0)" }
    #expect(try await titles(of: pages) == expected)
    #expect(try await titlesWithTaskGroup(of: pages) == expected)
    let missing = [URL(filePath: "/missing")]
    await #expect(throws: CocoaError.self) { try await titles(of: missing) }
    await #expect(throws: CocoaError.self) { try await titlesWithTaskGroup(of: missing) }
  }

  @Test func anOperationThatRunsForTooLongIsCancelledFromOutside() async throws {
    let queue = BoundedOperationQueue(name: "test", maxConcurrentOperations: 1)
    let started = Gate()
    let stuck = Work.endless(started)
    try await queue.submit(stuck)
    try await onThread { started.pass() }
    cancelStuck(in: queue, after: .seconds(1000))
    #expect(!stuck.isCancelled)
    cancelStuck(in: queue, after: .zero)
    #expect(try await stuck.waitForEnd().words == "cancelled while running, by its time limit")
  }
}
