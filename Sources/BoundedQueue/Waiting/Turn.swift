/// What the task of an operation waits for: that the operation gets a place in its queue, or leaves the queue. One task waits,
/// once. An operation that was not accepted and is submitted again has another task and another turn.
struct Turn {
  /// How many turns there were before.
  let number: Int
  /// The task; nil before the operation joins a queue.
  var task: Task<Void, Never>?
  /// Whether the work may begin; nil until that is known.
  private var given: Bool?
  private var waiting: UnsafeContinuation<Bool, Never>?

  init(number: Int = 0) { self.number = number }

  /// Has the task of a turn wait.
  ///
  /// - Returns: the turn, if it has come; false if it was an earlier one; otherwise the continuation is kept.
  mutating func wait(_ number: Int, _ continuation: UnsafeContinuation<Bool, Never>) -> Bool? {
    if number != self.number { return false }
    if given == nil { waiting = continuation }
    return given
  }

  /// - Returns: the continuation to resume.
  mutating func give(_ mayWork: Bool) -> UnsafeContinuation<Bool, Never>? {
    if given == nil { given = mayWork }
    return waiting.take()
  }
}
