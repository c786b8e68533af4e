import AccessRecording
import BoundedQueue
import Fetching
import Files
import Foundation
import Locking
import MemoryPressure
import TestSupport
import Testing
import Thumbnails

// The examples of the documentation, word for word, so that the compiler checks them.

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
  let queue = BoundedOperationQueue(name: "copies", maxConcurrentOperations: 4)
  let observation = queue.observe { event in
    if case .ended(let outcome) = event.change { print(event.operation.title, outcome) }
  }
  for name in names {
    try queue.submitBlocking(CopyOperation(from: name, to: "/backup/" + name))  // waits while 4 run and 16 wait
  }
  queue.close()
  queue.drainBlocking()
  observation.cancel()
}

func makePage(of user: String) async throws -> String {
  try await withBoundedQueue(maxConcurrentOperations: 2) { queue in
    let profile = ResultOperation(title: "profile of \(user)") { try await fetch("/profiles/\(user)") }
    let photos = ResultOperation(title: "photos of \(user)") { try await fetch("/photos/\(user)") }
    let page = ResultOperation(title: "page of \(user)", after: profile, photos) { $0 + $1 }
    for operation in [profile, photos, page] { try await queue.submit(operation) }
    return try await page.result
  }
}

func sizes(of urls: [URL]) async throws -> [Int] {
  try await withBoundedQueue(maxConcurrentOperations: 4) { queue in
    let operations = urls.map { url in ResultOperation(title: "\(url)") { try await size(of: url) } }
    for operation in operations { try await queue.submit(operation) }
    var sizes: [Int] = []
    for operation in operations { sizes.append(try await operation.result) }
    return sizes
  }
}

extension CancelReason {
  static let replaced = CancelReason("replaced", saying: "because a newer request took its place")
}

final class PageOperation: ResultOperation<String>, @unchecked Sendable {
  private var profile: Dependency<String>?
  private var photos: Dependency<String>?

  init(after profile: ResultOperation<String>, _ photos: ResultOperation<String>) {
    super.init(title: "page")
    self.profile = dependency(on: profile)
    self.photos = dependency(on: photos, allowsFailure: true)
  }

  override func makeResult() throws -> String {
    try (profile?.value ?? "") + ((try? photos?.value) ?? "no photos")
  }
}

struct Sidecar: Decodable { let size: String }

func makeThumbnail(of photo: Data, as sidecar: Sidecar) throws -> [UInt8] {
  let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: sidecar.size)])
  var jpeg: [UInt8] = []
  let source = ByteReader(bytes: [UInt8](photo))
  try ThumbnailMaker().makeThumbnails(of: source, options: options) { jpeg = [UInt8]($0.bytes) }
  return jpeg
}

func fetchAndMake(_ name: String, from server: String) async throws -> ResultOperation<[UInt8]> {
  let queue = BoundedOperationQueue(name: "photos", maxConcurrentOperations: 2)
  let photo = ResultOperation(title: "\(name).jpg") { try download("\(server)/\(name).jpg") }
  let sidecar = ResultOperation(title: "\(name).json") {
    try JSONDecoder().decode(Sidecar.self, from: download("\(server)/\(name).json"))
  }
  let thumbnail = ResultOperation(title: "thumbnail of \(name)", after: photo, sidecar, work: makeThumbnail)
  for operation in [photo, sidecar, thumbnail] as [BoundedOperation] { try await queue.submit(operation) }
  try await queue.drain()
  return thumbnail
}

final class PhotoOperation: ResultOperation<[UInt8]>, @unchecked Sendable {
  private var sidecar: Dependency<Sidecar>?
  private var photo: Dependency<Data>?

  init(after photo: ResultOperation<Data>, _ sidecar: ResultOperation<Sidecar>) {
    super.init(title: "thumbnail")
    self.photo = dependency(on: photo)
    self.sidecar = dependency(on: sidecar, allowsFailure: true)
  }

  override func makeResult() throws -> [UInt8] {
    try makeThumbnail(of: photo?.value ?? Data(), as: (try? sidecar?.value) ?? Sidecar(size: "256"))
  }
}

/// Stands for a request of the reader's.
private func size(of url: URL) async throws -> Int { url.path.count }

/// Stands for a request of the reader's.
private func fetch(_ path: String) async throws -> String {
  if path == "/photos/nobody" { throw CocoaError(.fileNoSuchFile) }
  return path
}

/// Stands for a request of the reader's.
private func download(_ url: String) throws -> Data {
  var limits = FetchLimits()
  (limits.allowsPrivate, limits.tries) = (true, 1)
  let file = try Spool(folder: "/tmp", bytes: 64 << 20).file()
  _ = try Fetcher(limits, userAgent: "thumbjob/test").fetch(
    FetchRequest(.url(RemoteURL(parsing: url.utf8))), into: file, monitor: PatientMonitor())
  return Data(try readAll(file.size, from: file.descriptor, at: 0))
}

private struct PatientMonitor: FetchMonitor {
  let isCancelled = false

  func restarted() {}
  func received(_ count: Int, of total: Int?) -> FetchVerdict { .goOn }
  func needs(_ validators: Validators) -> Bool { true }
  func entered(_ stage: FetchStage) {}
}

func watchMemory() throws {
  let monitor = try PressureMonitor { event in
    switch event {
    case .changed(_, to: .critical, let cause), .criticalAgain(_, let cause): print("giving memory back:", cause)
    default: break
    }
  }
  print("memory is", monitor.snapshot.level)
}

final class LoadOperation: BoundedOperation, @unchecked Sendable {
  private let file: URL

  init(_ file: URL) {
    self.file = file
    super.init(title: "load \(file.path)")
  }

  override func execute() throws {
    let size = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
    try withReservation(of: size) {
      let contents = try Data(contentsOf: file)
      print(file.path, contents.count)
    }
  }
}

func loadAll(_ files: [URL]) async throws {
  let queue = BoundedOperationQueue(name: "files", maxConcurrentOperations: 4, budget: MemoryBudget(bytes: 256 << 20))
  for file in files { try await queue.submit(LoadOperation(file)) }
  queue.close()
  try await queue.drain()
}

func watchTheLimit() throws -> PressureMonitor {
  let limit = MemoryLimit.ofThisProcess()
  print("may use \(limit.bytes >> 20) MiB")
  return try PressureMonitor { event in
    switch event {
    case .changed(_, to: let level, _) where level >= .warning: print("drop the caches")
    case .criticalAgain: print("drop more: what was dropped was not enough, and the process may be killed")
    default: break
    }
  }
}

func makeThumbnail(of photo: [UInt8], in folder: URL) throws {
  let options = ThumbnailOptions(sizes: [try SizeSpec(parsing: "320x240")], quality: 75)
  try ThumbnailMaker().makeThumbnails(of: ByteReader(bytes: photo), options: options) { thumbnail in
    try Data(thumbnail.bytes).write(to: folder.appendingPathComponent("\(thumbnail.size.name).jpg"))
  }
}

@Suite struct DocumentedExamples {
  @Test func twoRequestsAndThenThePage() async throws {
    #expect(try await makePage(of: "ann") == "/profiles/ann/photos/ann")
    await #expect(throws: CocoaError.self) { try await makePage(of: "nobody") }
    #expect(try await sizes(of: [URL(filePath: "/a"), URL(filePath: "/abc")]) == [2, 4])
  }

  /// A server of photos of 640 × 480 pixels and of sidecars, but not of those that are missing.
  private func server(without missing: String = "nothing", _ gate: Gate? = nil) -> ScriptedServer {
    let photo = SyntheticPhoto(seed: 1, width: 640, height: 480).jpeg()
    return ScriptedServer { request, connection in
      gate?.pass()
      let body = request.target.hasSuffix(".jpg") ? photo : Array(#"{"size": "160x40^"}"#.utf8)
      if request.target == missing { connection.reply(404) } else { connection.reply(200, [], body) }
      return true
    }
  }

  private func size(of jpeg: [UInt8]?) throws -> String {
    guard let jpeg else { return "none" }
    let pixels = try ThumbnailMaker.readInfo(of: ByteReader(bytes: jpeg)).pixels
    return "\(pixels.width)×\(pixels.height)"
  }

  @Test func aPhotoAndItsSidecarAreFetchedAtTheSameTimeAndThenMade() async throws {
    let gate = Gate()
    let server = server(gate)
    defer { server.stop() }
    async let thumbnail = fetchAndMake("photo", from: server.url(""))
    #expect(try await eventually(within: 20) { gate.arrived == 2 }, "neither is answered before both are asked for")
    gate.open()
    #expect(try size(of: await thumbnail.value) == "160×40")
    #expect(Set(server.requests.map(\.target)) == ["/photo.jpg", "/photo.json"])
  }

  @Test(arguments: ["photo.jpg", "photo.json"])
  func withoutOneOfTheTwoTheThumbnailSaysWhichOneIsMissing(missing: String) async throws {
    let server = server(without: "/\(missing)")
    defer { server.stop() }
    let thumbnail = try await fetchAndMake("photo", from: server.url(""))
    let text = thumbnail.description.replacing(/#\d+/, with: "#N")
    #expect(
      thumbnail.value == nil
        && text == "#N thumbnail of photo: cancelled while waiting, because an operation that it depends on did "
          + "not succeed, #N \(missing) failed: the server has no such file (status 404), ran 0.0 s",
      "\(text)")
  }

  @Test(arguments: [("nothing", "160×40"), ("/photo.json", "256×192"), ("/photo.jpg", "none")])
  func aThumbnailThatCanDoWithoutTheSidecarHasTheUsualSize(missing: String, size expected: String) async throws {
    let server = server(without: missing)
    defer { server.stop() }
    let url = server.url("/photo")
    let queue = BoundedOperationQueue(name: "photos", maxConcurrentOperations: 2)
    let photo = ResultOperation(title: "photo") { try download("\(url).jpg") }
    let sidecar = ResultOperation(title: "sidecar") {
      try JSONDecoder().decode(Sidecar.self, from: download("\(url).json"))
    }
    let thumbnail = PhotoOperation(after: photo, sidecar)
    for operation in [photo, sidecar, thumbnail] as [BoundedOperation] { try await queue.submit(operation) }
    try await queue.drain()
    #expect(try size(of: thumbnail.value) == expected, "\(thumbnail)")
  }

  /// Every block of Swift in the documentation of the libraries is also in this file, so it compiles. Blocks from articles on
  /// the queue may be in the queue's tests, or in the package that tests the queue's traits.
  @Test func everyExampleOfTheDocumentationCompiles() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    var documents = try ["BoundedQueue", "MemoryPressure", "Thumbnails"].flatMap { library in
      let room = root.appendingPathComponent("Sources/\(library)")
      return try FileManager.default.subpathsOfDirectory(atPath: room.path).filter {
        $0.hasSuffix(".swift") || $0.hasSuffix(".md")
      }
      .map { room.appendingPathComponent($0) }
    }
    documents += ["README.md", "docs/libraries.md", "docs/two-requests.md"].map { root.appendingPathComponent($0) }
    var compiled = try Self.lines(URL(fileURLWithPath: #filePath))
    let tests = root.appendingPathComponent("Tests/BoundedQueueTests")
    for name in try FileManager.default.contentsOfDirectory(atPath: tests.path) where name.hasPrefix("ArticleExamples")
    {
      compiled += try Self.lines(tests.appendingPathComponent(name))
    }
    compiled += try Self.lines(root.appendingPathComponent("Tests/Package/Hooks/Sources/hooks/main.swift"))
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
    #expect(examples == 48)
  }

  /// The lines of a file, without indentation and comment slashes.
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

final class NameCache: Recorded, Sendable {
  private let lock = Locked(())
  private let names = Shared<[Int: String]>([:])

  func add(_ name: String, for id: Int) { recorded { lock.withLock { _ in names.modify { $0[id] = name } } } }
  func name(of id: Int) -> String? { recorded { names.read { $0[id] } } }  // a mistake
}

func record(_ exercise: () throws -> Void) throws {
  AccessRecorder.start()
  try exercise()
  print(AccessRecorder.stop())
}
