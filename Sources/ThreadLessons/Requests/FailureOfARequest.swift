import BoundedQueue
import Dispatch
import Locking

/// A failed request must not let the next step begin.
enum FailureOfARequest: Lesson {
  static let name = "failure-of-a-request"
  static let claim = "A group counts ends, and not successes: the next step begins although a request has failed."
  static let today =
    "An operation that depends on another one of this project is cancelled if that fails, and says why."
  static let file = #fileID

  private struct NoAnswer: Error {}

  static func wrong() -> Outcome {
    let (group, answers) = (DispatchGroup(), Guarded(Locked<[String]>([])))
    DispatchQueue.global().async(group: group) { answers.lock.write { $0.append("profile") } }
    DispatchQueue.global().async(group: group) {}  // the photos have failed
    group.wait()
    let page = "page of " + answers.lock.read { $0.joined(separator: ", ") }
    return outcome(page)
  }

  static func right() -> Outcome {
    let queue = BoundedOperationQueue(name: "page", maxConcurrentOperations: 2)
    let profile = ResultOperation(title: "profile") { "profile" }
    let photos = ResultOperation(title: "photos") { () throws -> String in throw NoAnswer() }
    let page = ResultOperation(title: "page", after: profile, photos) { "page of \($0), \($1)" }
    for operation in [profile, photos, page] { try? queue.submitBlocking(operation) }
    queue.drainBlocking()
    return outcome(page.value)
  }

  private static func outcome(_ page: String?) -> Outcome {
    Outcome(isFaulty: page != nil, page.map { "there is a \($0)" } ?? "there is no page without the photos")
  }
}
