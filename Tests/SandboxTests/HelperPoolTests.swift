import AccessRecording
import BadDeeds
import Files
import Foundation
import Sandbox
import TestSupport
import Testing

/// Processes are lent, kept, replaced and ended.
@Suite(.timeLimit(.minutes(3))) struct HelperPoolTests {
  @Test func oneProcessDecodesManyPictures() async throws {
    let pool = Deeds.pool()
    for _ in 0..<50 { #expect(try await Deeds.decode(in: pool) == UInt8(ascii: "p")) }
    #expect(pool.counts.idle == 1 && pool.counts.started == 1)
  }

  @Test func eightThreadsShareAPool() async throws {
    let pool = Deeds.pool(mostIdle: 3)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for thread in 0..<8 {
        group.addTask {
          try await onThread {
            let file = SourceFile("\(thread)")
            for _ in 0..<100 {
              let bytes = try withExtendedLifetime(file) {
                try pool.decode(Deeds.order(file: file)).withBytes { Array($0) }
              }
              #expect(bytes == [UInt8](repeating: UInt8(ascii: "0") + UInt8(thread), count: Deeds.memory))
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(pool.counts.lent == 0 && pool.counts.idle <= 3)
  }

  #if DEBUG
  /// A process is used without a lock, by one thread after the other. The recorder records all of a process, so the test
  /// has one of its own.
  @Test func whatAPoolLendsHasNoUnguardedValue() async {
    await #expect(processExitsWith: .success) {
      let pool = Deeds.pool()
      AccessRecorder.start()
      for _ in 0..<3 {
        let sample = try await Deeds.decode(in: pool)
        #expect(sample == UInt8(ascii: "p"))
      }
      let recording = AccessRecorder.stop()
      #expect(pool.counts.started == 1)
      #expect(recording.unguarded.isEmpty, "\(recording)")
    }
  }
  #endif

  /// The first process cannot start here, so another tells of the fence.
  @Test func theFenceIsReportedOnce() async throws {
    let folder = TemporaryFolder()
    let (program, reports) = (Path(folder("decoder")), LockedBox<[FenceReport]>([]))
    let pool = HelperPool(program, mostIdle: 0) { report in reports.change { $0.append(report) } }
    #expect(await failure { try pool.decode(Deeds.order()) } == .cannotStart(program, .noSuchFileOrDirectory))
    #expect(reports.value.isEmpty)
    try FileManager.default.createSymbolicLink(atPath: "\(program)", withDestinationPath: "\(Deeds.badDecoder)")
    for _ in 0..<3 { #expect(try await Deeds.decode(in: pool) == UInt8(ascii: "p")) }
    #expect(pool.counts.started == 3)
    #expect(reports.value == [try #require(Deeds.report)])
  }

  @Test func aHangEndsSoonAfterItIsCancelled() async throws {
    let (pool, isHanging, isCancelled) = (Deeds.pool(), LockedBox(false), LockedBox(false))
    async let ended = { () async -> ContinuousClock.Instant in
      let error = await failure {
        try pool.decode(
          Deeds.order(BAD_HANGS), isCancelled: { isCancelled.value },
          progress: { if $0 > 0 { isHanging.change { $0 = true } } })
      }
      #expect(error == .cancelled)
      return ContinuousClock.now
    }()
    #expect(try await eventually { isHanging.value })
    let start = ContinuousClock.now
    isCancelled.change { $0 = true }
    // At most ten milliseconds until it is asked, and the time that killing takes. The machine may be busy with other tests.
    #expect(await ended - start < .milliseconds(500))
    #expect(try await Deeds.decode(in: pool) == UInt8(ascii: "p"))
  }

  @Test func killedProcessesFailOnlyWhatTheyDecode() async throws {
    let (pool, isDone) = (Deeds.pool(), LockedBox(false))
    async let kills = onThread { () -> Int in
      var kills = 0
      while !isDone.value {
        if let victim = pool.processIDs.randomElement(), kill(pid_t(victim), SIGKILL) == 0 { kills += 1 }
        usleep(2000)
      }
      return kills
    }
    let failures = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<4 {
        group.addTask {
          try await onThread {
            var failures = 0
            for _ in 0..<200 {
              do {
                let first = try pool.decode(Deeds.order()).withBytes { $0[0] }
                #expect(first == UInt8(ascii: "p"))
              } catch {
                failures += 1
                #expect(error as? SandboxError == .killed(signal: SIGKILL))
              }
            }
            return failures
          }
        }
      }
      return try await group.reduce(0, +)
    }
    isDone.change { $0 = true }
    let killed = try await kills
    #expect(killed > 0 && failures <= killed)
    pool.removeIdle()
    #expect(try await Deeds.decode(in: pool) == UInt8(ascii: "p"))
  }

  @Test func noProcessDecodesPicturesOfTwoOwners() async throws {
    let (pool, one, other) = (Deeds.pool(mostIdle: 2), PictureOwner.user(1), PictureOwner.host("a.org"))
    var processes: [PictureOwner: Set<Int>] = [:]
    for owner in [one, other, one, other] {
      let before = Set(pool.processIDs)
      #expect(try await Deeds.decode(in: pool, owner: owner) == UInt8(ascii: "p"))
      processes[owner, default: []].formUnion(Set(pool.processIDs).subtracting(before))
    }
    #expect(pool.counts.started == 2 && processes.values.allSatisfy { $0.count == 1 }, "each owner has a process")
    // A third owner gets the place of the one that has waited longest.
    #expect(try await Deeds.decode(in: pool, owner: .user(2)) == UInt8(ascii: "p"))
    #expect(pool.counts.idle == 2 && pool.counts.started == 3)
    #expect(Set(pool.processIDs).isDisjoint(with: processes[one] ?? []))
  }

  @Test func idleProcessesAreEndedOnRequest() async throws {
    let pool = Deeds.pool()
    _ = try await Deeds.decode(in: pool)
    pool.removeIdle()
    #expect(pool.counts.idle == 0 && pool.counts.lent == 0 && pool.counts.started == 1)
    _ = try await Deeds.decode(in: pool)
    #expect(pool.counts.idle == 1 && pool.counts.started == 2)
  }

  @Test func memoryIsThatOfTheProcessesOfNow() async throws {
    let pool = Deeds.pool()
    #expect(pool.memory == 0)
    _ = try await Deeds.decode(in: pool)
    #expect((1 << 16..<16 << 20).contains(pool.memory))
    pool.removeIdle()
    #expect(pool.memory == 0)
  }

  @Test func aProcessIsReplacedAfterItsPictures() async throws {
    let pool = Deeds.pool(picturesPerProcess: 3)
    for _ in 0..<7 { _ = try await Deeds.decode(in: pool) }
    #expect(pool.counts.started == 3)
  }

  @Test func anIdleProcessThatWasKilledIsReplacedUnnoticed() async throws {
    let pool = Deeds.pool()
    _ = try await Deeds.decode(in: pool)
    let victims = pool.processIDs
    for victim in victims { kill(pid_t(victim), SIGKILL) }
    #expect(try await eventually { !victims.contains { isRunning($0) } })
    #expect(try await Deeds.decode(in: pool) == UInt8(ascii: "p"))
    #expect(pool.counts.started == 2)
  }

  /// A process that is stopped looks as if it waited. It is killed when it has been sent a picture, and has not taken it.
  @Test func aProcessThatIsKilledBeforeItTakesAPictureIsReplacedUnnoticed() async throws {
    let pool = Deeds.pool()
    _ = try await Deeds.decode(in: pool)
    let victim = pid_t(try #require(pool.processIDs.first))
    kill(victim, SIGSTOP)
    let byte = try await onThread {
      try pool.decode(Deeds.order(), progress: { _ in kill(victim, SIGKILL) }).withBytes { $0[0] }
    }
    #expect(byte == UInt8(ascii: "p"))
    #expect(pool.counts.started == 2 && !pool.processIDs.contains(Int(victim)))
  }

  /// Only a new process is certain to blame the picture if that has taken it over.
  @Test(arguments: [(BAD_ABORTS, 1), (BAD_EXITS, 1), (BAD_DENIES, 2)])
  func aPictureThatEndsAnOldProcessIsToBlame(_ deed: bad_deed, started: Int) async throws {
    let pool = Deeds.pool()
    _ = try await Deeds.decode(in: pool)
    let error = await Deeds.error(of: deed, in: pool)
    #expect(error == (deed == BAD_EXITS ? .ended(status: 3) : .crashed(signal: SIGABRT)))
    #expect(pool.counts.started == started)
  }

  @Test func aPictureWhoseProcessIsKilledFails() async throws {
    let pool = Deeds.pool()
    _ = try await Deeds.decode(in: pool)
    let victim = pid_t(try #require(pool.processIDs.first))
    let error = await failure {
      try pool.decode(Deeds.order(BAD_HANGS), progress: { if $0 > 0 { kill(victim, SIGKILL) } })
    }
    #expect(error == .killed(signal: SIGKILL) && pool.counts.started == 1)
  }

  @Test func shuttingDownEndsEverything() async throws {
    let (pool, isHanging) = (Deeds.pool(), LockedBox(false))
    _ = try await Deeds.decode(in: pool)
    async let error = failure {
      try pool.decode(Deeds.order(BAD_HANGS), progress: { if $0 > 0 { isHanging.change { $0 = true } } })
    }
    #expect(try await eventually { isHanging.value })
    pool.shutDown()
    #expect(await error == .cancelled)
    #expect(await Deeds.error(of: BAD_NONE, in: pool) == .cancelled)
    #expect(pool.counts.idle == 0 && pool.counts.lent == 0 && pool.counts.started == 1)
  }

  // MARK: Against a process of its own

  @Test func nothingSurvivesAParentThatIsKilled() async throws {
    let folder = TemporaryFolder()
    let (parent, output) = try start(["hold", "\(Deeds.badDecoder)", "6"], in: folder)
    #expect(try await eventually { output().hasSuffix("\n") })
    let helpers = output().split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
    #expect(helpers.count == 6 && helpers.allSatisfy { isRunning($0) })
    kill(parent.processIdentifier, SIGKILL)
    #expect(try await eventually(within: 10) { !helpers.contains { isRunning($0) } })
    parent.waitUntilExit()
  }

  @Test func aThousandPicturesLeaveNothingOpen() async throws {
    let folder = TemporaryFolder()
    let (parent, output) = try start(["endure", "\(Deeds.badDecoder)", "1000"], in: folder)
    try await onThread { parent.waitUntilExit() }
    #expect(parent.terminationStatus == 0)
    let counts = output().split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
    try #require(counts.count == 6)
    let (before, during, after) = (counts[0], counts[2], counts[4])
    #expect(counts[1] == 1 && counts[3] <= 1 && counts[5] == 0, "children: \(counts)")
    #expect(during <= before && after < before, "open files: \(counts)")
  }

  @Test func descriptorsThatTheProcessUsesMayBeFreeBefore() async throws {
    let folder = TemporaryFolder()
    let (parent, _) = try start(["closed", "\(Deeds.badDecoder)"], in: folder)
    try await onThread { parent.waitUntilExit() }
    #expect(parent.terminationStatus == 0)
  }

  // MARK: Parts

  /// Starts the program that has decoder processes.
  ///
  /// - Returns: with the text that it has printed.
  private func start(
    _ arguments: [String], in folder: TemporaryFolder
  ) throws -> (Process, @Sendable () -> String) {
    try folder.write([], to: "output")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "\(Deeds.parent)")
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle(forWritingAtPath: folder("output"))
    try process.run()
    return (process, { (try? folder.bytes("output")).map { String(decoding: $0, as: UTF8.self) } ?? "" })
  }

  private func isRunning(_ id: Int) -> Bool { ProcessStatus(of: id)?.memory != nil }
}
