/// The answer of S3 to a request that it refuses.
///
/// *Source*: Amazon S3 API Reference, Error Responses.
struct S3Refusal {
  /// The most bytes of an answer that are looked at.
  private static let mostBytes = 8 << 10

  /// The word that names the reason; empty if the answer has none.
  private(set) var code = ""
  /// The region of the bucket, if the request was signed for another one; nil if the answer tells none.
  private(set) var region: String?

  /// - Parameter text: the answer's body, or its beginning.
  init(_ text: [UInt8]) {
    var elements = ElementReader(Array(text.prefix(Self.mostBytes)))
    while let element = try? elements.next() {
      guard element.path.count == 2, element.path[0] == "Error" else { continue }
      let text = String(FetchError.line(String(decoding: element.text, as: UTF8.self)).prefix(60))
      switch element.path[1] {
      case "Code": code = text
      case "Region": region = text
      default: break
      }
    }
  }
}
