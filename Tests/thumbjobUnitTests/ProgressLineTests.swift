import Testing

@testable import thumbjob

@Suite(.timeLimit(.minutes(5)))
struct ProgressLineTests {
  private static let line = ProgressLine(
    done: 500, found: 516, total: 2000, rate: 58.2, remaining: .seconds(29), pid: 30065, places: 3,
    running: ["photo 12.jpg decoding 43 %", "写真.jpg reading", "c.jpg reading"])

  @Test func aLogHasLinesEverMoreRarely() {
    // Ten seconds apart, so an hour is 360 updates.
    let due = (1...360).filter { ProgressDisplay.isDue(update: $0) }
    #expect(due.prefix(7) == [1, 2, 3, 4, 5, 6, 12] && due.count == 6 + 9 + 5)
  }

  @Test func theTimeLeftIsToldInSteps() {
    #expect([0.2, 9, 41, 59, 100, 601, 5000].map { RunTimeLeft.rounded($0) } == [1, 9, 45, 60, 105, 660, 5400])
  }

  private func bar(_ columns: Int, _ charset: Charset = .unicode, _ change: (inout ProgressLine) -> Void = { _ in })
    -> String
  {
    var line = Self.line
    change(&line)
    let bar = line.bar(columns: columns, charset)
    #expect(bar.displayWidth <= columns)
    return bar.text
  }

  @Test func theLineUsesTheWidthThereIs() {
    #expect(bar(40) == "━━────── 500 of 2000 · ETA 29.0 s")
    #expect(bar(80) == "━━━━──────────── 500 of 2000 · 58.2/s · ETA 29.0 s · PID 30065 · photo 12.jpg d…")
    #expect(
      bar(160) == "━━━━━━━━────────────────────────"
        + " 500 of 2000 · 58.2/s · ETA 29.0 s · PID 30065 · photo 12.jpg decoding 43 %, 写真.jpg reading, c.jpg reading")
  }

  @Test func withFewPlacesTheBarIsLonger() {
    func length(_ columns: Int, _ places: Int) -> Int {
      bar(columns) { $0.places = places }.prefix { "━─".contains($0) }.count
    }
    #expect([1, 2, 3, 64].map { length(200, $0) } == [100, 90, 60, 40])
    #expect([1, 2, 3, 64].map { length(80, $0) } == [16, 16, 16, 16])
  }

  @Test func figuresThatMatterLessAreLeftOutFirst() {
    let change = { (line: inout ProgressLine) in (line.failed, line.pause) = (3, "paused by the user") }
    #expect(
      bar(80, .unicode, change).hasSuffix("── 500 of 2000 · 3 failed · paused by the user · ETA 29.0 s · PID 30065"))
    #expect(bar(50, .unicode, change).hasSuffix("── 500 of 2000 · 3 failed · paused by the user"))
    #expect(bar(30, .unicode, change).hasSuffix(" 500 of 2000 · 3 failed"))
    #expect(bar(20, .unicode, change).hasSuffix("── 500 of 2000"))
    #expect(bar(12, .unicode, change) == "500 of 2000", "a bar would be too short")
  }

  @Test func noLineIsTooLongForItsTerminal() {
    // Below 11 columns the console cuts off the count.
    for columns in 11...220 { _ = bar(columns) { $0.failed = columns % 3 } }
  }

  @Test func theCLocaleHasASCII() {
    #expect(bar(60, .ascii) { $0.running = [] } == "###--------- 500 of 2000 | 58.2/s | ETA 29.0 s | PID 30065")
    #expect(bar(80, .ascii) { $0.running = ["photo 123456.jpg"] }.hasSuffix(" | PID 30065 | photo 123456..."))
  }

  @Test func withoutATotalThereIsNoBar() {
    #expect(bar(60) { ($0.total, $0.remaining) = (nil, nil) }.hasPrefix("500 of 516 found so far · 58.2/s · PID 30065"))
  }

  @Test func theBarIsFullAtTheEndAndTheFailuresAreRed() {
    var line = Self.line
    (line.done, line.failed) = (2000, 1)
    let parts = line.bar(columns: 80, .unicode).parts
    #expect(parts[0] == StyledText.Part(text: String(repeating: "━", count: 16), style: .done))
    #expect(parts.contains(StyledText.Part(text: "1 failed", style: .failure)))
  }

  @Test func aPlainLineHasAllFigures() {
    #expect(Self.line.figures == "500 of 2000 · 58.2/s · ETA 29.0 s · PID 30065")
  }
}
