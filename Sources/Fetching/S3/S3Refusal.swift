/// The answer of S3 to a request that it refuses.
///
/// *Source*: Amazon S3 API Reference, Error Responses.
enum S3Refusal {
  /// The word that names the reason; empty if the text has none.
  ///
  /// - Parameter text: the beginning of the answer's body.
  static func code(in text: [UInt8]) -> String {
    var elements = ElementReader(text)
    while let element = try? elements.next() {
      if element.path == ["Error", "Code"] {
        return String(FetchError.line(String(decoding: element.text, as: UTF8.self)).prefix(60))
      }
    }
    return ""
  }
}
