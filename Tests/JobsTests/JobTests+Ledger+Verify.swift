import Files
import Foundation
import TestSupport
import Testing

@testable import JobSettings
@testable import Jobs

// What `--verify content` finds.
extension JobTests.Remembering {
  /// Its size, its times, and its first and last bytes stay.
  private func changeTheMiddle(of name: String) throws {
    let path = folder(name)
    var status = stat()
    #expect(stat(path, &status) == 0)
    let file = open(path, O_RDWR)
    defer { close(file) }
    var byte: UInt8 = 0
    #expect(pread(file, &byte, 1, 5000) == 1)
    byte ^= 1
    #expect(pwrite(file, &byte, 1, 5000) == 1)
    #expect(futimens(file, [status.accessed, status.modified]) == 0)
  }

  @Test(arguments: [false, true]) func aChangeInTheMiddleIsFoundByTheContentAlone(hasManifest: Bool) async throws {
    let large = SyntheticPhoto(seed: 3, width: 800, height: 600).jpeg()
    #expect(large.count > 20_000)
    for name in ["a", "b"] { try folder.write(large, to: "images/\(name).jpg") }
    var settings = settings()
    if hasManifest { settings.joins.manifest = Path(folder("manifest.json")) }
    settings.failOn = .truncated
    _ = try await run(settings)
    settings.verify = .content
    let first = try await run(settings)
    #expect(first.report.tally.upToDate == 2 && first.report.counters.submitted >= 2, "now the hashes are known")
    try changeTheMiddle(of: "images/a.jpg")
    settings.verify = .time
    #expect(try await run(settings).report.tally.upToDate == 2)
    settings.verify = .content
    let second = try await run(settings)
    #expect(second.report.tally.upToDate == 1 && second.report.tally.made == 1 && second.ended == ["a.jpg"])
    #expect(second.report.tally.found == 2 && second.report.tally.requeued == 0)
    let third = try await run(settings)
    #expect(third.report.tally.upToDate == 2 && third.report.joins.allSatisfy(\.isInPlace))
  }

  @Test func damageThatTheContentShowsStaysAFailure() async throws {
    let large = SyntheticPhoto(seed: 3, width: 800, height: 600).jpeg()
    try folder.write(large, to: "images/a.jpg")
    var settings = settings()
    settings.verify = .content
    _ = try await run(settings)
    var status = stat()
    #expect(stat(folder("images/a.jpg"), &status) == 0)
    var bytes = large
    for index in 6000..<7000 { bytes[index] = 0xFF }
    try folder.write(bytes, to: "images/a.jpg")
    let times = [status.accessed, status.modified]
    #expect(utimensat(AT_FDCWD, folder("images/a.jpg"), times, 0) == 0)
    #expect(try await run(settings).report.tally.failed == 1)
    #expect(try await run(settings).report.tally.failedEarlier == 1)
    settings.retryFailed = true
    #expect(try await run(settings).report.tally.failed == 1, "tried again, not taken for unchanged")
  }
}
