import Dispatch
import Locking

/// A group that is left when a request has returned.
enum GroupLeftEarly: Lesson {
  static let name = "group-left-early"
  static let claim =
    "A group must be left when a request is answered; left when the call has returned, it lets the next step "
    + "begin without answers."
  static let today = "Dispatch cannot know; `async let` and task groups have no such place to forget."
  static let file = #fileID

  static func wrong() -> Outcome {
    let (group, answers, network) = (DispatchGroup(), Guarded(Locked<[String]>([])), Gate())
    let requests = ["profile", "photos"].map { name in
      group.enter()
      let request = Player(name) {
        network.wait()
        answers.lock.write { $0.append(name) }
      }
      group.leave()  // too early: it belongs behind the answer
      return request
    }
    group.wait()
    let count = answers.lock.read { $0.count }
    network.open()
    for request in requests { request.end.wait() }
    return outcome(count)
  }

  static func right() -> Outcome {
    let (next, network) = (Gate(), Gate())
    let requests = ["profile", "photos"].map { name in
      TwoRequests.CallingBack(
        start: { done in
          _ = Player(name) {
            network.wait()
            done(.success(name))
          }
        }, cancel: {})
    }
    let count = Guarded(Locked(0))
    TwoRequests.group(requests, on: DispatchQueue(label: "next")) { result in
      count.lock.write { $0 = (try? result.get().count) ?? 0 }
      next.open()
    }
    network.open()
    next.wait()
    return outcome(count.lock.read { $0 })
  }

  private static func outcome(_ count: Int) -> Outcome {
    Outcome(isFaulty: count < 2, "the next step has \(count) of 2 answers")
  }
}
