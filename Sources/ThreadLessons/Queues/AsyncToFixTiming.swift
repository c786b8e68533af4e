import Dispatch
import Locking

/// `async` does not fix an order.
enum AsyncToFixTiming: Lesson {
  static let name = "async-to-fix-timing"
  static let claim = "`async` puts a block behind what waits now; what it was meant to follow may come later still."
  static let today = "True; an order that matters is a dependency, or one closure."
  static let file = #fileID

  static func wrong() -> Outcome {
    let (main, steps) = (DispatchQueue(label: "main"), Guarded(Locked<[String]>([])))
    // The answer comes when it comes; here, after the main queue had time for the block.
    let answer = Gate()
    let network = Player("network") {
      answer.wait()
      main.sync { steps.lock.write { $0.append("answer") } }
    }
    main.async { steps.lock.write { $0.append("show") } }  // “later, when the answer will be there”
    main.sync {}
    answer.open()
    network.end.wait()
    return outcome(steps.lock.read { $0 })
  }

  static func right() -> Outcome {
    let (main, steps) = (DispatchQueue(label: "main"), Guarded(Locked<[String]>([])))
    let network = Player("network") {
      main.sync {
        steps.lock.write { $0.append("answer") }
        steps.lock.write { $0.append("show") }  // who has the answer shows it
      }
    }
    network.end.wait()
    return outcome(steps.lock.read { $0 })
  }

  private static func outcome(_ steps: [String]) -> Outcome {
    Outcome(isFaulty: steps.first == "show", steps.joined(separator: ", then "))
  }
}
