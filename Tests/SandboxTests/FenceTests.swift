import BadDeeds
import CDecoding
import CLinux
import Files
import Foundation
import Sandbox
import TestSupport
import Testing

/// What a process that a picture has taken over can do: nothing but fail.
@Suite(.timeLimit(.minutes(2))) struct FenceTests {
  @Test(.enabled(if: Deeds.isFenced, "a sanitizer makes system calls of its own"))
  func allPartsHoldHere() throws {
    let report = try #require(Deeds.report)
    #expect(report.isFenced && report.missing.isEmpty, "\(report.shortfall ?? "")")
    #expect(report.shortfall == nil)
  }

  /// As root, thumbjob itself has them.
  @Test func aProcessHasNoCapabilities() throws {
    let process = try HelperProcess(Deeds.badDecoder)
    let status = try String(contentsOfFile: "/proc/\(process.id)/status", encoding: .utf8).split(separator: "\n")
    for name in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
      let line = try #require(status.first { $0.hasPrefix(name) })
      #expect(line.drop { $0 != "\t" } == "\t0000000000000000", "\(line)")
    }
  }

  /// In this build a sanitizer's runtime is what the fence lacks.
  @Test(.enabled(if: !Deeds.isFenced, "the whole fence holds here"))
  func aFenceThatIsRequiredIsWholeOrNothing() async throws {
    let pool = Deeds.pool(fence: .whole)
    let error = SandboxError.unfenced(try #require(Deeds.report?.shortfall))
    for _ in 0..<3 { #expect(await Deeds.error(of: BAD_NONE, in: pool) == error) }
    #expect(pool.counts.idle == 0 && pool.counts.lent == 0)
    #expect(pool.counts.started == 1, "no other process would have more")
  }

  @Test(
    .enabled(if: Deeds.isFenced, "a sanitizer makes system calls of its own"),
    arguments: [
      BAD_OPENS_FILE, BAD_CONNECTS, BAD_FORKS, BAD_EXECUTES, BAD_WRITES_FILE, BAD_SHRINKS_MEMORY, BAD_MAPS_EXECUTABLE,
      BAD_RAISES_LIMIT, BAD_KILLS, BAD_TRACES, BAD_STARTS_THREAD, BAD_CLOSES_LIFELINE, BAD_CLOSES_LIFELINE_BY_ALIAS,
    ])
  func aForbiddenCallCostsOnePicture(_ deed: bad_deed) async throws {
    let pool = Deeds.pool()
    #expect(await Deeds.error(of: deed, in: pool) == .forbiddenCall)
    #expect(try await Deeds.decode(in: pool) == UInt8(ascii: "p"))
    #expect(pool.counts.started == 2)
  }

  @Test func withoutAFenceTheSameCallsAreAllowed() async throws {
    let pool = Deeds.pool(fence: .off)
    for deed in [BAD_OPENS_FILE, BAD_CONNECTS, BAD_RAISES_LIMIT] {
      #expect(try await Deeds.decode(deed, in: pool) == UInt8(ascii: "p"))
    }
    #expect(pool.counts.started == 1)
  }

  @Test(
    .enabled(if: Deeds.isFenced, "a sanitizer reports some of them itself"),
    arguments: [
      (BAD_CRASHES, SandboxError.crashed(signal: SIGSEGV)), (BAD_ABORTS, .crashed(signal: SIGABRT)),
      (BAD_FREES_TWICE, .crashed(signal: SIGABRT)), (BAD_OVERFLOWS_STACK, .crashed(signal: SIGSEGV)),
      (BAD_EXITS, .ended(status: 3)),
    ])
  func aCrashCostsOnePicture(_ deed: bad_deed, _ expected: SandboxError) async throws {
    let pool = Deeds.pool()
    #expect(await Deeds.error(of: deed, in: pool) == expected)
    #expect(try await Deeds.decode(in: pool) == UInt8(ascii: "p"))
    #expect(pool.counts.started == 2)
  }

  @Test(.enabled(if: Deeds.isFenced, "a sanitizer maps terabytes"), arguments: [BAD_ALLOCATES, BAD_MAPS_SHARED])
  func memoryEndsAtTheReservation(_ deed: bad_deed) async throws {
    let pool = Deeds.pool()
    for _ in 0..<3 {
      guard case .undecodable(.damaged, let text) = await Deeds.error(of: deed, in: pool) else {
        Issue.record("the process has not replied how much it got")
        return
      }
      let taken = try #require(Int(text))
      #expect((Deeds.workingBytes...Deeds.workingBytes + (2 << 20)).contains(taken), "\(taken) bytes")
    }
  }

  @Test(.enabled(if: Deeds.isFenced, "a sanitizer maps terabytes"))
  func aLargerReservationGivesMoreMemory() async throws {
    let process = try HelperProcess(Deeds.badDecoder)
    for mebibytes in [1, 64, 2] {
      var order = Deeds.order(BAD_ALLOCATES)
      order.workingBytes = mebibytes << 20
      let error = await failure { [order] in try process.decode(order) }
      guard case .undecodable(_, let text) = error, let taken = Int(text) else {
        Issue.record("the process has not replied how much it got")
        return
      }
      #expect((mebibytes << 20...(mebibytes + 2) << 20).contains(taken), "\(taken) bytes of \(mebibytes) MiB")
    }
  }

  @Test(.enabled(if: Deeds.isFenced, "the limit is off under a sanitizer"))
  func aProcessThatKeepsMemoryIsReplaced() async throws {
    let pool = Deeds.pool()
    #expect(try await Deeds.decode(BAD_LEAKS, in: pool) == UInt8(ascii: "p"))
    #expect(pool.counts.idle == 0)
  }

  /// A debugger, or setarch(8), may have switched off the protection of memory for this process.
  @Test func aProcessDoesNotInheritThePersonalityOfThisOne() async throws {
    let (flags, own, before) = try await onThread {
      let before = personality(0xFFFF_FFFF)
      // READ_IMPLIES_EXEC and ADDR_NO_RANDOMIZE.
      _ = personality(CUnsignedLong(before) | 0x0440000)
      defer { _ = personality(CUnsignedLong(before)) }
      let process = try HelperProcess(Deeds.badDecoder)
      let flags = try String(contentsOfFile: "/proc/\(process.id)/personality", encoding: .utf8)
      return (flags, personality(0xFFFF_FFFF), before)
    }
    #expect(flags == "00000000\n")
    #expect(own == before | 0x0440000, "this thread's own stays as it was")
  }

  @Test func signalsOfTheTerminalDoNotReachAProcess() async throws {
    let process = try HelperProcess(Deeds.badDecoder)
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM] {
      kill(pid_t(process.id), signal)
    }
    let file = SourceFile("x")
    let first = try await onThread {
      try withExtendedLifetime(file) { try process.decode(Deeds.order(file: file)).withBytes { $0[0] } }
    }
    #expect(first == UInt8(ascii: "x"))
  }

  @Test func aProcessThatWasStoppedGoesOn() async throws {
    let process = try HelperProcess(Deeds.badDecoder)
    kill(pid_t(process.id), SIGSTOP)
    #expect(try await eventually { ProcessStatus(of: process.id)?.isStopped == true })
    async let picture = onThread { try process.decode(Deeds.order()) }
    kill(pid_t(process.id), SIGCONT)
    _ = try await picture
  }
}
