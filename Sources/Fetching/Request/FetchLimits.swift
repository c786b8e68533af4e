/// The bounds of all transfers.
package struct FetchLimits: Sendable {
  /// The most connections at once.
  package var connections = 16
  package var perHost = 4
  /// The most bytes of one source.
  package var largest = 512 << 20
  package var connectTimeout = Duration.seconds(15)
  /// The longest time without a byte.
  package var stallTimeout = Duration.seconds(30)
  /// The longest time that one source may take over all tries. Waiting for a connection, for space and for the next try does
  /// not count. This limit ends a transfer that sends only a byte now and then.
  package var wholeTimeout = Duration.seconds(1800)
  package var tries = 4
  /// The longest time that a server may ask to wait before the next try.
  package var longestWait = Duration.seconds(60)
  /// Whether addresses are allowed that are not public.
  package var allowsPrivate = false

  /// How long a host that is down is left alone.
  var hostPause = Duration.seconds(30)
  /// Whether a host that is down is waited for once, and then given up for good.
  package var waitsForHosts = false

  static let redirects = 5

  package init() {}
}
