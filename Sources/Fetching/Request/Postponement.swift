/// A source that is to be asked for later, because its server has named the time.
package struct Postponement: Sendable, Equatable {
  /// The host, with its port unless it is the usual one.
  package let host: String
  package let until: ContinuousClock.Instant
  /// How many tries the source has taken so far, for ``FetchRequest/tries``.
  package let tries: Int

  init(of host: String, for wait: Duration, tries: Int) {
    (self.host, until, self.tries) = (host, .now + wait, tries)
  }
}
