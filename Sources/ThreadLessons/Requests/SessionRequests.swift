import Foundation
import Locking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Two requests of a URL session, whose delegate is called on a serial queue: so the queue guards the answers, and no
/// lock is needed. The first failure cancels the other request.
///
/// *Concurrency*: ``start(_:)`` and ``cancel()`` may be called from any thread. The delegate's methods are called on
/// the delegate queue, to which the state is confined.
public final class SessionRequests: NSObject, URLSessionDataDelegate, @unchecked Sendable {  // see the properties
  private struct State {
    /// By the number of the request.
    var answers: [Int: Data] = [:]
    var failure: (any Error)?
    /// Emptied when all have ended.
    var tasks: [URLSessionTask] = []
    var open = 0
  }

  private let state: Confined<State>
  private let queue = OperationQueue()
  private let completion: @Sendable (Result<[String], any Error>) -> Void
  /// Set once, before any request begins.
  private nonisolated(unsafe) var session: URLSession!

  /// - Parameter completion: called once, on the delegate queue, with an answer for each request, in order.
  public init(
    _ configuration: URLSessionConfiguration, completion: @escaping @Sendable (Result<[String], any Error>) -> Void
  ) {
    self.completion = completion
    let serial = DispatchQueue(label: "answers")
    state = Confined(State(), to: .queue(serial))
    super.init()
    queue.underlyingQueue = serial
    queue.maxConcurrentOperationCount = 1  // the queue is the lock
    session = URLSession(configuration: configuration, delegate: self, delegateQueue: queue)
  }

  /// Begins the requests. Call it once. Without any request, the completion gets an empty list.
  public func start(_ urls: [URL]) {
    queue.addOperation { [self] in
      let tasks = urls.map { session.dataTask(with: $0) }
      state.withValue { state in
        (state.tasks, state.open) = (tasks, tasks.count)
        // Of an empty answer, no data is received.
        for task in tasks { state.answers[task.taskIdentifier] = Data() }
      }
      for task in tasks { task.resume() }
      completeIfAllHaveEnded()
    }
  }

  public func cancel() {
    queue.addOperation { [self] in cancelAll() }
  }

  public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    state.withValue { $0.answers[dataTask.taskIdentifier, default: Data()].append(data) }
  }

  public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let isFirstFailure = state.withValue { state in
      state.open -= 1
      guard let error, state.failure == nil else { return false }
      state.failure = (error as? URLError)?.code == .cancelled ? CancellationError() : error
      return true
    }
    if isFirstFailure { cancelAll() }
    completeIfAllHaveEnded()
  }

  private func completeIfAllHaveEnded() {
    let result = state.withValue { state -> Result<[String], any Error>? in
      guard state.open == 0 else { return nil }
      state.tasks = []
      if let failure = state.failure { return .failure(failure) }
      return .success(state.answers.sorted { $0.key < $1.key }.map { String(decoding: $0.value, as: UTF8.self) })
    }
    guard let result else { return }
    completion(result)
    session.finishTasksAndInvalidate()  // it would keep its delegate for ever
  }

  /// The session could be asked for its tasks. But on Linux `getAllTasks` reads its table outside of the queue that
  /// guards it, and has crashed there (swift-corelibs-foundation, Swift 6.3.1).
  private func cancelAll() {
    for task in state.withValue({ $0.tasks }) { task.cancel() }
  }
}
