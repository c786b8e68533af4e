/// What a transfer is doing.
package enum FetchStage: String, Sendable {
  case waitingForConnection = "waiting for a connection"
  case connecting = "connecting"
  case waitingForSpace = "waiting for disk space"
  case receiving = "receiving"
  case waitingToRetry = "waiting to try again"

  /// The stages in which the source waits for others.
  package static let waiting = Set([waitingForConnection, waitingForSpace, waitingToRetry].map(\.rawValue))
}

/// Whether a transfer goes on.
package enum FetchVerdict: Sendable, Equatable {
  case goOn
  /// All of the source is needed.
  case all
  /// The bytes before this offset are enough.
  case enough(Int)
  /// Besides the bytes so far, these parts of the source are enough, or those that ``FetchMonitor/missing(having:of:)`` names
  /// when they are there.
  case parts(RangeSet<Int>)
}

/// Follows a transfer, on the thread that waits for it.
package protocol FetchMonitor {
  /// Asked every ten milliseconds at least.
  var isCancelled: Bool { get }
  /// The file is empty again: the next bytes are others, from its beginning on.
  func restarted()
  /// Bytes are in the file, from its beginning.
  ///
  /// - Parameters:
  ///   - count: how many there are.
  ///   - total: how many there will be; nil if the server does not tell.
  func received(_ count: Int, of total: Int?) -> FetchVerdict
  /// Parts of the source are in the file, and the transfer of its beginning has ended.
  ///
  /// - Parameters:
  ///   - held: what is in the file.
  ///   - total: the bytes of the whole source.
  /// - Returns: what is needed besides, as far as it is known; nil if all of the source is.
  func missing(having held: RangeSet<Int>, of total: Int) -> RangeSet<Int>?
  /// Called before the first byte: what the server tells of the source.
  ///
  /// - Returns: false if the source is known, and need not be fetched.
  func needs(_ validators: Validators) -> Bool
  func entered(_ stage: FetchStage)
}

extension FetchMonitor {
  package func missing(having held: RangeSet<Int>, of total: Int) -> RangeSet<Int>? { nil }
}
