import Files
import StatusEndpoint
import Testing

@testable import thumbjob

@Suite(.timeLimit(.minutes(5)))
struct StatusTextTests {
  private static func job(
    _ pid: Int = 30065, sources: [String] = ["./images"], outputs: [String] = ["thumbs"], failed: Int = 0,
    pressure: PressureStatus.Level = .normal
  ) -> RunStatus {
    var counters = RunCounters(["found": 330], total: 2000)
    (counters.made, counters.failed, counters.running, counters.waiting) = (312 - failed, failed, 1, 30)
    let running = OperationStatus(
      id: 313, description: "thumbnail x", source: "./images/2024/holiday/写真 12.jpg", state: .running,
      stage: "decoding", fraction: 0.43, waitedSeconds: 1, ranSeconds: 0.5, reservedBytes: 12 << 20,
      waitReason: "waits for memory: needs 72 MiB, 40 of 256 MiB free")
    let waiting = (1...22).map {
      OperationStatus(
        id: 313 + $0, description: "thumbnail x", source: Path("./images/\($0).jpg"), state: .waiting, waitedSeconds: 2,
        ranSeconds: 0, waitReason: "all 2 places are taken")
    }
    return RunStatus(
      version: "1", pid: pid, sources: sources, outputs: outputs, startedAt: 0, elapsedSeconds: 12.3, state: .running,
      counters: counters, limits: RunLimits(max: 2, backlog: 40, budgetBytes: 1 << 30),
      memory: MemoryStatus(
        reservedBytes: 31 << 20, peakReservedBytes: 0, budgetBytes: 1 << 30, residentBytes: 64 << 20, limitBytes: 0),
      pressure: PressureStatus(level: pressure, source: "psi"),
      rates: RunRates(sourcesPerSecond: 58.2, thumbnailsPerSecond: 0, bytesPerSecond: 0), etaSeconds: 29,
      running: [running], waiting: waiting)
  }

  private func table(_ columns: Int?, _ jobs: RunStatus..., silent: [Int] = []) -> [Substring] {
    StatusTable(jobs: jobs, silent: silent).text(columns: columns, .unicode).split(separator: "\n")
  }

  @Test func theTableShowsSourcesAndOutput() {
    #expect(
      table(nil, Self.job(), silent: [1 << 40]) == [
        "PID            STATE    DONE         FAILED  RATE    ETA     RESERVED         PRESSURE  SOURCES   OUT",
        "30065          running  312 of 2000  0       58.2/s  29.0 s  31 MiB of 1 GiB  normal    ./images  ./thumbs",
        "1099511627776  silent   -            -       -       -       -                -         -         -",
      ])
  }

  @Test func onANarrowTerminalTheTableLeavesColumnsOut() {
    #expect(
      table(80, Self.job()) == [
        "PID    STATE    DONE         FAILED  RATE    ETA     SOURCES   OUT",
        "30065  running  312 of 2000  0       58.2/s  29.0 s  ./images  ./thumbs",
      ])
    #expect(
      table(40, Self.job(sources: ["/home/me/photos/2024"])) == [
        "PID    STATE    DONE         OUT", "30065  running  312 of 2000  ./thumbs",
      ])
    #expect(
      table(60, Self.job(failed: 3, pressure: .warning)) == [
        "PID    STATE    DONE         FAILED  PRESSURE  OUT",
        "30065  running  312 of 2000  3       warning   ./thumbs",
      ])
  }

  @Test func longPathsLoseTheirBeginning() {
    let long = "/srv/photos/" + String(repeating: "deep/", count: 20)
    let rows = table(80, Self.job(sources: [long + "holiday"], outputs: [long + "thumbs"]))
    #expect(rows.allSatisfy { $0.count <= 80 } && rows[1].contains("/holiday  …") && rows[1].hasSuffix("/thumbs"))
    for columns in 44...200 {
      let rows = table(columns, Self.job(sources: [long, "写真"], outputs: [long, long]))
      #expect(rows.allSatisfy { $0.displayWidth <= columns }, "\(rows)")
    }
  }

  private func detail(_ columns: Int?, _ job: RunStatus = job(), failed: [OperationStatus] = []) -> [String] {
    StatusDetail(job: job, failed: failed).text(columns: columns, .unicode).split(separator: "\n").map(String.init)
  }

  @Test func theDetailBeginsWithTheProcessAndItsFolders() {
    let lines = detail(nil)
    #expect(
      lines.prefix(8) == [
        "process 30065: running, for 12.3 s", "  ./images → ./thumbs",
        "  312 of 2000 done · 312 made · 58.2/s · ETA 29.0 s",
        "  memory: 31 MiB of 1 GiB reserved · 64 MiB held · pressure normal (from psi)",
        "  1 of 2 running · 30 of 40 waiting", "1 of 2 running",
        "  #313 0.5 s, decoding 43 %, 12 MiB, waits for memory: needs 72 MiB, 40 of 256 MiB free: "
          + "./images/2024/holiday/写真 12.jpg",
        "30 of 40 waiting",
      ])
    #expect(lines[8] == "  #314 2.0 s, all 2 places are taken: ./images/1.jpg")
    #expect(lines.last == "  … and 10 more" && lines.count == 8 + 20 + 1)
  }

  @Test func onANarrowTerminalDetailsGiveWayToTheName() {
    #expect(detail(80)[6] == "  #313 0.5 s, decoding 43 %, 12 MiB: ./images/2024/holiday/写真 12.jpg")
    let lines = detail(40)
    #expect(
      lines.prefix(4) == [
        "process 30065: running, for 12.3 s", "  ./images → ./thumbs", "  312 of 2000 done · 312 made · 58.2/s",
        "  ETA 29.0 s",
      ])
    #expect(lines.contains("  #313 0.5 s: …/2024/holiday/写真 12.jpg"))
    #expect(lines.contains("  #314 2.0 s: ./images/1.jpg"))
    for columns in 36...120 { #expect(detail(columns).dropFirst(2).allSatisfy { $0.displayWidth <= columns }) }
  }

  @Test func whatWaitsForOthersIsCountedAndNamed() {
    var job = Self.job()
    (job.counters.waiting, job.counters.waitingForDependencies, job.counters.cancelledForDependencies) = (1, 1, 2)
    job.waiting = [
      OperationStatus(
        id: 43, description: "contact sheet sheet.pdf, page\n3", source: nil, state: .waiting, waitedSeconds: 2,
        ranSeconds: 0, waitReason: "waits for #41 and #42", waitsFor: [41, 42])
    ]
    let lines = detail(nil, job)
    #expect(lines[2].contains(" · 312 made · 2 cancelled for a dependency · "))
    #expect(lines[4] == "  1 of 2 running · 1 of 40 waiting, 1 of them for others")
    #expect(lines.last == "  #43 2.0 s, waits for #41 and #42: contact sheet sheet.pdf, page\\n3")
  }

  @Test func theEndTellsWhatTheLastStatusTold() {
    #expect(
      StatusDetail.ending(of: Self.job()) == "(./images → ./thumbs) has ended; last seen with 312 of 2000 done")
    var stopped = Self.job(failed: 2)
    stopped.stopReason = "stopped by USR2"
    #expect(
      StatusDetail.ending(of: stopped)
        == "(./images → ./thumbs) has ended, stopped by USR2; last seen with 312 of 2000 done, 2 failed")
  }
}
