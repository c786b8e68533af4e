import Foundation
import Locking

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Two requests of a URL session, whose delegate is called on a serial queue: so the queue guards the answers, and no lock
/// is needed. The first failure cancels the other request.
///
/// *Concurrency*: ``start(_:)`` and ``cancel()`` may be called from any thread. The delegate's methods are called on the
/// delegate queue only, which each of them checks.
public final class SessionRequests: NSObject, URLSessionDataDelegate, @unchecked Sendable {  // see the properties
  /// Guarded by the delegate queue.
  private var answers: [Int: Data] = [:]
  private var failure: (any Error)?
  private var open = 0

  private let queue = OperationQueue()
  private let completion: @Sendable (Result<[String], any Error>) -> Void
  /// Set once, before any request begins.
  private nonisolated(unsafe) var session: URLSession!

  /// - Parameter completion: called once, on the delegate queue.
  public init(
    _ configuration: URLSessionConfiguration, completion: @escaping @Sendable (Result<[String], any Error>) -> Void
  ) {
    self.completion = completion
    super.init()
    queue.maxConcurrentOperationCount = 1  // the queue is the lock
    session = URLSession(configuration: configuration, delegate: self, delegateQueue: queue)
  }

  public func start(_ urls: [URL]) {
    queue.addOperation { [self] in
      open = urls.count
      for url in urls { session.dataTask(with: url).resume() }
    }
  }

  public func cancel() {
    queue.addOperation { [self] in cancelAll() }
  }

  public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    checkQueue()
    answers[dataTask.taskIdentifier, default: Data()].append(data)
  }

  public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    checkQueue()
    open -= 1
    if let error, failure == nil {
      failure = (error as? URLError)?.code == .cancelled ? CancellationError() : error
      cancelAll()
    }
    guard open == 0 else { return }
    let texts = answers.sorted { $0.key < $1.key }.map { String(decoding: $0.value, as: UTF8.self) }
    completion(failure.map { .failure($0) } ?? .success(texts))
    session.finishTasksAndInvalidate()  // it would keep its delegate for ever
  }

  private func cancelAll() {
    session.getAllTasks { tasks in for task in tasks { task.cancel() } }
  }

  private func checkQueue() {
    precondition(OperationQueue.current === queue, "the delegate was called on another queue than its own")
  }
}
