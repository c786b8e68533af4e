import Foundation
import TestSupport
import Testing

/// Tests of the built binary, run as its user runs it.
@Suite(.timeLimit(.minutes(5))) struct CommandTests {}

extension Trait where Self == ConditionTrait {
  /// Enables a test only if the command can be run without root's rights, with which the test would prove nothing.
  static var needsUnprivilegedCommand: Self {
    let obstacle = BuiltCommand.unprivilegedObstacle
    return .enabled(if: obstacle == nil, Comment(rawValue: obstacle ?? ""))
  }
}

/// Waits until a condition holds, and fails the test if it does not hold in time.
func expectEventually(_ condition: @Sendable () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) async throws
{
  let held = try await eventually(condition)
  #expect(held, sourceLocation: sourceLocation)
}

extension TemporaryFolder {
  /// A few varied photos below `images`.
  static func withPhotos(_ count: Int = 12) throws -> TemporaryFolder {
    let folder = TemporaryFolder()
    for number in 0..<count {
      var photo = SyntheticPhoto(seed: number, width: 400 + 31 * number, height: 300 + 7 * number)
      photo.isProgressive = number % 3 == 1
      photo.isGrey = number % 5 == 4
      photo.hasFullChroma = number % 4 == 2
      photo.orientation = number % 9
      try folder.write(photo.jpeg(), to: "images/\(number % 3)/photo \(number).jpg")
    }
    return folder
  }

  /// This many links to one large photo below `images`, for tests that end a run early: 2,000 take far longer.
  static func withWork(_ count: Int) throws -> TemporaryFolder {
    let folder = TemporaryFolder()
    try folder.link(largePhoto, count, below: "images")
    return folder
  }

  /// A photo of 6 megapixels in 4:4:4, made once.
  private static let largePhoto: [UInt8] = {
    var photo = SyntheticPhoto(seed: 1, width: 3000, height: 2000)
    photo.hasFullChroma = true
    return photo.jpeg()
  }()

  /// Work that stops when 12 of its 34 sources are made, and goes on after `releaseHeldPlaces()`: two files are cut
  /// off, so with `heldArguments` they are tried again and again, and take both places of the queue.
  static func withHeldPlaces() throws -> TemporaryFolder {
    let folder = TemporaryFolder()
    try folder.link(smallPhoto, 12, below: "images")
    for name in heldNames { try folder.write(smallPhoto.dropLast(200), to: name) }
    try folder.link(smallPhoto, 20, below: "more")
    return folder
  }

  static let heldArguments = ["images", "held", "more", "--max", "2", "--backlog", "8", "--retries", "100"]
  private static let heldNames = ["held/a.jpg", "held/b.jpg"]
  private static let smallPhoto = SyntheticPhoto(seed: 1, width: 200, height: 150).jpeg()

  /// Completes the files that are cut off, so that the run goes on.
  func releaseHeldPlaces() throws { for name in Self.heldNames { try write(Self.smallPhoto, to: name) } }

  private func link(_ photo: [UInt8], _ count: Int, below top: String) throws {
    try write(photo, to: "\(top).jpg")
    for number in 0..<count {
      let name = String(format: "\(top)/%04d/\(top) %05d.jpg", number / 100, number)
      let file = URL(fileURLWithPath: self(name))
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try FileManager.default.linkItem(atPath: self("\(top).jpg"), toPath: file.path)
    }
  }

  /// Fills a pipe to the last byte, so that the next write to it blocks.
  func fill(_ pipe: String) {
    let descriptor = open(self(pipe), O_RDWR | O_NONBLOCK)
    defer { close(descriptor) }
    while Foundation.write(descriptor, "x", 1) == 1 {}
  }

  /// The files in the output's working folder except the settings and the ledger. A run must leave none.
  var leftovers: [String] {
    let names = try? FileManager.default.contentsOfDirectory(atPath: self("thumbs/.thumbjob"))
    return (names ?? []).filter { $0 != "tree" && !$0.hasPrefix("settings") && !$0.hasPrefix("ledger") }
  }
}

extension BuiltCommand.Ending {
  var errorLines: [Substring] { errors.split(separator: "\n") }

  /// The last line of the output, the summary of `--json`.
  var summary: [String: Any] {
    guard let line = output.split(separator: "\n").last,
      let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    else { return [:] }
    return object
  }

  func number(_ key: String) -> Int { summary[key] as? Int ?? -1 }

  /// Whether every source found has ended in exactly one way.
  var addsUp: Bool {
    let keys = ["made", "would_make", "up_to_date", "passed_over", "not_read", "duplicates", "failed", "cancelled"]
    return number("found") == keys.reduce(0) { $0 + number($1) }
  }
}
