/// Two threads, of which one is in the middle of something.
enum Meanwhile {
  /// Whether another thread gets somewhere while the current one is in the middle of something.
  ///
  /// - Parameters:
  ///   - patience: how long the current thread stays there.
  ///   - hold: calls its closure in the middle. It stays there until the other thread has got there, or patience ends.
  ///   - other: called on another thread. It opens the gate when it has got there.
  static func isReached(
    _ patience: Patience, whileIn hold: (_ middle: () -> Void) -> Void, by other: @escaping @Sendable (Gate) -> Void
  ) -> Bool {
    let (isInTheMiddle, isThere) = (Gate(), Gate())
    let player = Player("other") {
      isInTheMiddle.wait()
      other(isThere)
    }
    var wasReached = false
    hold {
      isInTheMiddle.open()
      wasReached = isThere.wait(patience)
    }
    player.end.wait()
    return wasReached
  }
}
