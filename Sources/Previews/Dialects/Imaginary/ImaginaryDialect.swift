/// The routes of imaginary, which Nextcloud's clients use.
///
/// *Source*: imaginary's README and sources (h2non/imaginary); what its clients send, by Nextcloud's `OC\Preview\Imaginary`.
struct ImaginaryDialect: Dialect {
  let key: SecretKey?

  let name = "imaginary"
  let field: String? = "file"

  /// Those that anyone may ask for, and that have no picture.
  private static let open: [String: PreviewCall] = ["/": .version, "/health": .health]
  /// Routes whose picture comes from elsewhere, or that change more than the size.
  private static let missing: Set<String> = Set(ImaginaryOperation.missing.map { "/\($0.lowercased())" } + ["/form"])

  func call(for head: RequestHead) throws(PreviewError) -> PreviewCall? {
    if let call = Self.open[head.path] {
      guard ["GET", "HEAD"].contains(head.method) else {
        throw .wrongMethod(allowed: "GET, HEAD", "this route supports GET only")
      }
      return call
    }
    let word = String(head.path.dropFirst())
    let operation = ImaginaryOperation(rawValue: word)
    guard operation != nil || word == "pipeline" || word == "info" || Self.missing.contains(head.path) else {
      return nil
    }
    guard head.method == "POST" else {
      guard head.value("url") == nil, head.value("file") == nil else {
        throw .wrongMethod(
          allowed: "POST", "pictures from URLs and files are off: the server makes previews of what is posted")
      }
      throw .wrongMethod(allowed: "POST", "this route supports POST only")
    }
    try checkKey(head)
    if Self.missing.contains(head.path) { throw ImaginaryOperation.isMissing(word) }
    if word == "info" { return .describe }
    guard let operation else { return .make(try ImaginaryPipeline(json: head.value("operations") ?? "").request(head)) }
    let parameters = try ImaginaryParameters(head.query.map { ($0.name, .text($0.value)) })
    return .make(try operation.request(parameters, head) ?? PreviewRequest(.whole))
  }

  private func checkKey(_ head: RequestHead) throws(PreviewError) {
    guard let key else { return }
    let given = head.key.flatMap { $0.isEmpty ? nil : $0 } ?? head.value("key") ?? ""
    if !key.matches(given) {
      throw PreviewError(401, .key, "the key is missing or wrong; send it as API-Key or as key=")
    }
  }
}
