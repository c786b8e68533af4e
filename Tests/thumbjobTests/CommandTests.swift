import Foundation
import TestSupport
import Testing

/// The built binary, as a user meets it. One at a time: some count milliseconds, and a build machine has two cores.
@Suite(.serialized, .timeLimit(.minutes(15))) struct CommandTests {}

/// Waits until something holds; fails the test when it does not come to that.
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

  /// So many links to one photo, large enough that a run over them takes a while.
  static func withWork(_ count: Int) throws -> TemporaryFolder {
    let folder = TemporaryFolder()
    try folder.write(largePhoto, to: "photo.jpg")
    for number in 0..<count {
      let name = String(format: "images/%04d/%05d.jpg", number / 100, number)
      let file = URL(fileURLWithPath: folder(name))
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try FileManager.default.linkItem(atPath: folder("photo.jpg"), toPath: file.path)
    }
    return folder
  }

  /// 6 megapixels of 4:4:4, made once.
  private static let largePhoto: [UInt8] = {
    var photo = SyntheticPhoto(seed: 1, width: 3000, height: 2000)
    photo.hasFullChroma = true
    return photo.jpeg()
  }()

  /// What runs leave in the output's working folder beside the settings: nothing.
  var leftovers: [String] {
    let names = try? FileManager.default.contentsOfDirectory(atPath: self("thumbs/.thumbjob"))
    return (names ?? []).filter { !$0.hasPrefix("settings") }
  }
}

extension BuiltCommand.Ending {
  var errorLines: [Substring] { errors.split(separator: "\n") }

  /// The last line of `--json`.
  var summary: [String: Any] {
    guard let line = output.split(separator: "\n").last,
      let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    else { return [:] }
    return object
  }

  func number(_ key: String) -> Int { summary[key] as? Int ?? -1 }

  /// Every source found has ended in exactly one way.
  var addsUp: Bool {
    let keys = ["made", "up_to_date", "passed_over", "not_read", "duplicates", "failed", "cancelled"]
    return number("found") == keys.reduce(0) { $0 + number($1) }
  }
}
