import Testing

@testable import thumbjob

@Suite(.timeLimit(.minutes(5)))
struct RecentRateTests {
  @Test func theFirstSamplesMeasureTheWholeRun() {
    let rate = RecentRate().rate(ended: 30, made: 10, at: .seconds(10))
    #expect(rate.ended == 3 && rate.made == 1)
  }

  @Test func onlyTheLastHalfMinuteCounts() {
    let rates = RecentRate()
    // 10 a second for a minute, then 2 a second.
    for second in 1...60 { _ = rates.rate(ended: 10 * second, made: 10 * second, at: .seconds(second)) }
    var last = (ended: 0.0, made: 0.0)
    for second in 61...100 {
      let ended = 600 + 2 * (second - 60)
      last = rates.rate(ended: ended, made: ended, at: .seconds(second))
    }
    #expect(last.ended == 2 && last.made == 2)
  }

  @Test func theTimeInWhichTheProcessWasStoppedIsLeftOut() {
    let rates = RecentRate()
    for second in 1...10 { _ = rates.rate(ended: 5 * second, made: 0, at: .seconds(second)) }
    // Stopped for 90 seconds.
    _ = rates.rate(ended: 50, made: 0, at: .seconds(100))
    _ = rates.rate(ended: 55, made: 0, at: .seconds(101))
    let rate = rates.rate(ended: 60, made: 0, at: .seconds(102))
    #expect(rate.ended == 5)
  }
}
