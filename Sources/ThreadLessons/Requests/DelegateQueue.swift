import Foundation
import Locking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The queue of a URL session's delegate.
enum DelegateQueue: Lesson {
  static let name = "delegate-queue"
  static let claim =
    "A session's delegate needs no lock only while its queue is serial; on another queue, two answers come at "
    + "once."
  static let today =
    "swift-corelibs-foundation calls the delegate on whatever queue it is given; a delegate whose state is `Confined` "
    + "traps on another one."
  static let file = #fileID

  static func wrong() -> Outcome {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 2
    return answers(on: queue, .certain)
  }

  static func right() -> Outcome {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    return answers(on: queue, .doubtful)
  }

  /// Whether the delegate is called for two requests at once.
  private static func answers(on queue: OperationQueue, _ patience: Patience) -> Outcome {
    let delegate = Delegate(patience)
    let configuration = URLSessionConfiguration.ephemeral
    configuration.protocolClasses = [CannedAnswers.self]
    let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
    for path in ["profile", "photos"] { session.dataTask(with: CannedAnswers.url(path)).resume() }
    delegate.end.wait()
    session.invalidateAndCancel()
    let most = delegate.count.lock.read { $0.most }
    return Outcome(isFaulty: most > 1, "\(most) of 2 answers \(most == 1 ? "is" : "are") in the delegate at once")
  }

  private final class Delegate: NSObject, URLSessionDataDelegate, Sendable {
    let count = Guarded(Locked((inside: 0, most: 0, ended: 0)))
    let end = Gate()
    private let bothAreIn = Gate()
    private let patience: Patience

    init(_ patience: Patience) { self.patience = patience }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      let inside = count.lock.write { count in
        count.inside += 1
        count.most = max(count.most, count.inside)
        return count.inside
      }
      if inside == 2 { bothAreIn.open() }
      bothAreIn.wait(patience)
      let ended = count.lock.write { count in
        count.inside -= 1
        count.ended += 1
        return count.ended
      }
      if ended == 2 { end.open() }
    }
  }
}
