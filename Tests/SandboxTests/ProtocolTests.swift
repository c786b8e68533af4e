import BadDeeds
import CDecoding
import Files
import Foundation
import Sandbox
import TestSupport
import Testing

/// What a process says is not believed.
@Suite(.timeLimit(.minutes(2))) struct ProtocolTests {
  @Test func tilesExtentsAndProfileGetThere() async throws {
    let pool = Deeds.pool()
    let picture = try await onThread {
      var order = Deeds.order()
      order.tiles = (1...5).map { number in
        var tile = cdecoding_tile()
        tile.width = UInt32(number)
        return tile
      }
      order.extents = (1...3).map { cdecoding_extent(offset: 7, size: $0 * 100) }
      order.request.profile_offset = 100
      order.request.profile_capacity = 10
      return try pool.decode(order)
    }
    #expect(picture.warnings == ["615", "", ""])
    #expect(picture.profile == Array("icc!".utf8))
    #expect(picture.withBytes { $0.count } == Deeds.memory)
  }

  @Test func progressIsReported() async throws {
    let process = try HelperProcess(Deeds.badDecoder)
    let seen = LockedBox(0.0)
    let error = await failure {
      try process.decode(
        Deeds.order(BAD_HANGS), isCancelled: { seen.value > 0 }, progress: { done in seen.change { $0 = done } })
    }
    #expect(error == .cancelled)
    #expect(seen.value == 0.5)
  }

  @Test(arguments: [
    BAD_SENDS_GARBAGE, BAD_SENDS_SHORT, BAD_SENDS_LONG, BAD_FLOODS, BAD_ANSWERS_BEFORE, BAD_STATUS, BAD_PROFILE_SIZE,
  ])
  func aLieIsAnErrorOfThatPicture(_ deed: bad_deed) async throws {
    let pool = Deeds.pool()
    let error = await Deeds.error(of: deed, in: pool)
    guard case .brokenProtocol? = error else {
      Issue.record("\(error.map { "\($0)" } ?? "no error")")
      return
    }
    #expect(try await Deeds.decode(in: pool) == UInt8(ascii: "p"))
    #expect(pool.counts.started == 2)
  }

  @Test func aSecondReplyHarmsNoOtherPicture() async throws {
    let pool = Deeds.pool()
    for _ in 0..<20 {
      #expect(try await Deeds.decode(BAD_ANSWERS_TWICE, in: pool) == UInt8(ascii: "p"))
      #expect(try await Deeds.decode(in: pool) == UInt8(ascii: "p"))
    }
    #expect(pool.counts.started >= 20)
  }

  @Test func textIsOnePrintableLine() async throws {
    let pool = Deeds.pool()
    let error = await Deeds.error(of: BAD_TEXT, in: pool)
    #expect(error == .undecodable(.damaged, String(repeating: "?", count: 200)))
    #expect(pool.counts.idle == 1, "a verdict on the file does not replace the process")
  }

  @Test func aRequestThatContradictsItselfIsNotSent() async throws {
    let process = try HelperProcess(Deeds.badDecoder)
    let (outside, large) = await (
      failure {
        var order = Deeds.order()
        order.request.profile_offset = UInt64.max
        order.request.profile_capacity = 2
        return try process.decode(order)
      },
      failure {
        var order = Deeds.order()
        order.planeBytes = 1 << 33
        return try process.decode(order)
      }
    )
    #expect(outside == .badRequest && large == .badRequest)
    #expect(process.pictures == 0)
  }

  @Test func errorsAreOneLineForTheUser() {
    let errors: [SandboxError] = [
      .notFound(["/usr/bin/thumbjob-decoder"]), .cannotStart("/dev/null", .permissionDenied),
      .wrongProgram("/bin/true"),
      .refused(.noMemory), .startTimedOut(.seconds(20)),
      .crashed(signal: SIGSEGV), .forbiddenCall, .killed(signal: SIGKILL), .ended(status: 1),
      .brokenProtocol("nothing"), .staleReply, .endedIdle, .memoryLimit(3 << 20), .cancelled, .badRequest,
      .undecodable(.damaged, "a row is missing"), .notExecutable("/usr/bin/thumbjob-decoder"),
    ]
    let lines = errors.map { "\($0)" }
    #expect(lines.allSatisfy { !$0.isEmpty && !$0.contains("\n") && !$0.contains("SandboxError") })
    #expect(lines[5] == "the decoder crashed: signal 11, Segmentation fault")
    #expect(lines[12] == "the decoder needs more memory than 3 MiB")
  }

  // MARK: The start

  @Test func aProgramThatIsMissingIsNamed() async {
    let missing: Path = "/nowhere/thumbjob-decoder"
    #expect(await failure { try HelperProcess(missing) } == .cannotStart(missing, .noSuchFileOrDirectory))
    #expect(await failure { try HelperProcess("/dev/null") } == .cannotStart("/dev/null", .permissionDenied))
  }

  @Test(arguments: ["ends-at-once", "has-other-version"])
  func aProgramThatIsNoDecoderIsRecognised(_ name: String) async throws {
    let folder = TemporaryFolder()
    let link = Path(folder(name))
    try FileManager.default.createSymbolicLink(atPath: "\(link)", withDestinationPath: "\(Deeds.badDecoder)")
    #expect(await failure { try HelperProcess(link) } == .wrongProgram(link))
  }

  @Test func waitingForTheHelloCanBeCancelled() async throws {
    let folder = TemporaryFolder()
    let link = Path(folder("says-nothing"))
    try FileManager.default.createSymbolicLink(atPath: "\(link)", withDestinationPath: "\(Deeds.badDecoder)")
    #expect(await failure { try HelperProcess(link, isCancelled: { true }) } == .cancelled)
  }

  @Test func theProgramIsLookedForInAnInstallation() async throws {
    let folder = TemporaryFolder()
    try folder.write([], to: "bin/thumbjob")
    let bin = Path(folder("bin"))
    let names = ["bin", "libexec/thumbjob", "lib/thumbjob"].map { "\($0)/thumbjob-decoder" }
    let places = names.map { Path(folder($0)) }
    #expect(await failure { try HelperProgram.decoder.locate(from: bin) } == .notFound(places))
    for name in names.reversed() {
      try folder.write([], to: name)
      chmod(folder(name), 0o644)
      #expect(
        await failure { try HelperProgram.decoder.locate(from: bin) }
          == (name == names[2] ? .notExecutable(places[2]) : nil))
      chmod(folder(name), 0o755)
      #expect(try HelperProgram.decoder.locate(from: bin) == Path(folder(name)))
    }
  }

  @Test func theRealDecoderAnswers() async throws {
    let pool = HelperPool(Deeds.realDecoder, mostIdle: 1)
    let error = await failure {
      var order = Deeds.order()
      order.request.kind = cdecoding_kind(rawValue: 999)
      return try pool.decode(order)
    }
    #expect(error == .undecodable(.badRequest, "no decoder has the number 999"))
  }
}
