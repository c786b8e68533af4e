import Testing

@testable import BoundedQueue

@Suite(.timeLimit(.minutes(5))) struct WaitingLineTests {
  @Test func entriesLeaveInOrderAndFromTheMiddle() {
    var line = WaitingLine<String>()
    let tickets = ["a", "b", "c", "d"].map { line.append($0) }
    #expect(line.remove(tickets[1]) == "b")
    #expect(line.remove(tickets[1]) == nil, "a ticket is valid once")
    #expect(line.popFirst() == "a")
    #expect(line.remove(tickets[0]) == nil)
    #expect(line.prefix(1) == ["c"])
    #expect(line.removeAll() == ["c", "d"])
    #expect(line.popFirst() == nil && line.isEmpty)
  }

  @Test func theLineBehavesLikeAnArray() {
    var random = SystemRandomNumberGenerator()
    var line = WaitingLine<Int>()
    var model: [(ticket: Int, value: Int)] = []
    for step in 0..<20_000 {
      switch Int.random(in: 0..<(step % 2_000 < 1_000 ? 6 : 10), using: &random) {
      case 0..<4: model.append((line.append(step), step))
      case 4, 6: #expect(line.popFirst() == (model.isEmpty ? nil : model.removeFirst().value))
      default:
        guard let index = model.indices.randomElement() else { continue }
        let entry = model.remove(at: index)
        #expect(line.remove(entry.ticket) == entry.value)
      }
      #expect(line.count == model.count)
    }
    #expect(line.prefix(.max) == model.map(\.value))
  }

  @Test func storageFollowsTheNumberOfEntriesPresent() {
    var line = WaitingLine<Int>()
    _ = line.append(0)
    for number in 1..<100_000 {
      let ticket = line.append(number)
      _ = line.remove(ticket)
    }
    #expect(line.count == 1 && line.storageCount <= 64)
  }
}
