import Locking

/// A request that nobody owns.
enum ForgottenTask: Lesson {
  static let name = "forgotten-task"
  static let claim = "A request in a `Task { }` of its own goes on when the one that asked for it is cancelled."
  static let today =
    "True; `async let` and task groups make it a child, which is cancelled and awaited with its parent."
  static let file = #fileID

  static func wrong() -> Outcome {
    cancelling(.doubtful) { request in
      let answer = Task { await request() }
      await answer.value
    }
  }

  static func right() -> Outcome {
    cancelling(.certain) { request in
      async let answer: Void = request()
      await answer
    }
  }

  /// Whether a request is cancelled when the task is that asks for it.
  private static func cancelling(
    _ patience: Patience, ask: @escaping @Sendable (_ request: @escaping @Sendable () async -> Void) async -> Void
  ) -> Outcome {
    let (network, answer) = AsyncStream<Void>.makeStream()
    let (hasBegun, isCancelled, hasEnded) = (Gate(), Gate(), Gate())
    let task = Task {
      await ask {
        await withTaskCancellationHandler {
          hasBegun.open()
          for await _ in network {}
        } onCancel: {
          isCancelled.open()
        }
      }
      hasEnded.open()
    }
    hasBegun.wait()
    task.cancel()
    let wasCancelled = isCancelled.wait(patience)
    answer.finish()
    hasEnded.wait()
    return Outcome(isFaulty: !wasCancelled, "the request \(wasCancelled ? "is cancelled, too" : "goes on")")
  }
}
