import TestSupport
import Testing

@testable import Jobs

@Suite struct ElevatorTests {
  @Test func itGoesOneWayAsFarAsSomethingIsLeftThere() {
    var elevator = Elevator<UInt64>()
    for place: UInt64 in [50, 10, 90, 30] { elevator.insert(place, at: place) }
    #expect(elevator.next() == 10)
    #expect(elevator.next() == 30)
    elevator.insert(20, at: 20)
    elevator.insert(40, at: 40)
    #expect(elevator.next() == 40)
    elevator.insert(40, at: 40)
    #expect([elevator.next(), elevator.next(), elevator.next()] == [40, 50, 90])
    #expect(elevator.next() == 20)
    #expect(elevator.next() == nil && elevator.count == 0)
  }

  @Test func whatHasOnePlaceComesInTheOrderOfItsArrival() {
    var elevator = Elevator<Int>()
    for number in 0..<100 { elevator.insert(number, at: 7) }
    #expect((0..<100).allSatisfy { elevator.next() == $0 })
  }

  @Test(arguments: 1...20) func nothingIsLostAndTheHeadTurnsSeldom(seed: Int) {
    var random = SplitMix(seed: UInt64(seed))
    var elevator = Elevator<UInt64>()
    var (waiting, turns, last): ([UInt64], Int, UInt64) = ([], 0, 0)
    for _ in 0..<2000 {
      if waiting.count < 100 || Bool.random(using: &random) {
        let place = UInt64.random(in: 0..<1_000_000, using: &random)
        elevator.insert(place, at: place)
        waiting.append(place)
      } else if let place = elevator.next() {
        #expect(waiting.contains(place))
        waiting.remove(at: waiting.firstIndex(of: place)!)
        if place < last { turns += 1 }
        last = place
      }
    }
    #expect(elevator.count == waiting.count)
    #expect(turns < 40)
  }
}
