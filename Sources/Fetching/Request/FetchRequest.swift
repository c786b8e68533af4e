/// What is asked of a server.
package struct FetchRequest: Sendable {
  enum Method: String, Sendable {
    case get = "GET"
    /// Only the header.
    case head = "HEAD"
    /// The server keeps the body.
    case put = "PUT"
  }

  package let address: RemoteAddress
  /// What is known of the source: it is not sent again if it has not changed.
  package var unless: Validators?
  /// How many bytes are asked for first, because the rest is probably not needed; nil if the whole source is asked for.
  package var beginning: Int?
  /// How many tries earlier requests for the source have taken.
  package var tries = 0
  /// Whether the caller waits where a server asks to wait for longer than ``Fetcher/longestPause``. The fetch then ends with
  /// ``FetchError/postponed(_:)``.
  package var leavesLongWaits = false
  /// The most bytes of the answer; nil for those of a source.
  var largest: Int?
  var method = Method.get
  /// What is asked of a bucket, encoded and in the order of the signature.
  var query: String?
  /// Further lines of the header.
  var header: [String] = []
  /// What PUT sends.
  var body: [UInt8] = []

  package init(_ address: RemoteAddress) { self.address = address }

  var isOfStore: Bool { if case .store = address { true } else { false } }
}
