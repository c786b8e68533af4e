import Testing

@testable import Files

@Suite(.timeLimit(.minutes(5)))
struct UnitsTests {
  @Test(arguments: [
    (Duration.milliseconds(4), "0.0 s"), (.milliseconds(420), "0.4 s"), (.seconds(59), "59.0 s"),
    (.seconds(60), "1 min 0 s"), (.seconds(125), "2 min 5 s"), (.seconds(3599), "59 min 59 s"),
    (.seconds(12_000), "3 h 20 min"),
  ])
  func aDurationHasTwoUnitsAtMost(duration: Duration, text: String) {
    #expect(Units.time(duration) == text)
  }

  @Test(arguments: [
    (0.04, "0.0"), (99.94, "99.9"), (99.95, "100"), (12_345.6, "12346"), (-0.5, "-0.5"), (-0.04, "0.0"), (.nan, "0.0"),
    (.infinity, "1000000000000000"), (-1e300, "-1000000000000000"),
  ])
  func aNumberHasADecimalPlaceBelowAHundred(value: Double, text: String) {
    #expect(Units.decimal(value) == text)
  }

  @Test func aNounIsPluralUnlessThereIsOne() {
    #expect([0, 1, 2].map { Units.count($0, "source") } == ["0 sources", "1 source", "2 sources"])
  }
}
