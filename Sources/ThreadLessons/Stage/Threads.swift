import Locking

/// Several threads at once, each with an input of its own.
enum Threads {
  /// Calls `body` with each input on a thread of its own, and returns the results in the order of the inputs.
  static func values<Input: Sendable, Value: Sendable>(
    _ inputs: [Input], _ body: @escaping @Sendable (Input) -> Value
  ) -> [Value] {
    let results = Guarded(Locked<[Int: Value]>([:]))
    let players = inputs.enumerated().map { index, input in
      Player("thread \(index)") {
        let value = body(input)
        results.lock.withLock { $0[index] = value }
      }
    }
    for player in players { player.end.wait() }
    return results.lock.withLock { all in inputs.indices.compactMap { all[$0] } }
  }
}
