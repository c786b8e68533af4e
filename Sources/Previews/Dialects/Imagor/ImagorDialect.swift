import Fetching

/// The paths of imagor, which are thumbor's; OpenCloud's clients use them.
///
/// *Source*: imagor's documentation and sources (cshum/imagor); what OpenCloud sends.
struct ImagorDialect: Dialect {
  /// Signs paths. Without one, paths begin with `unsafe`.
  let key: SecretKey?

  let name = "imagor"
  // imagor takes the first file of a form.
  let field: String? = nil

  func call(for head: RequestHead) throws(PreviewError) -> PreviewCall? {
    guard let path = PercentEncoding.text(head.path) else { throw .badRequest("the path is not percent-encoded UTF-8") }
    guard let (seal, rest) = Self.split(path) else { return nil }
    guard head.method == "POST" else {
      throw .wrongMethod(
        allowed: "POST", "this route supports POST only: the server makes previews of what is posted")
    }
    // Clients sign the path as they send it, or before they encode it.
    try check(seal, [Self.split(head.path)?.rest, rest].compactMap { $0 }, head)
    return .make(try ImagorPath(rest).request)
  }

  /// `unsafe` or a signature, and the path after it; nil for other paths.
  private static func split(_ path: String) -> (seal: Substring, rest: Substring)? {
    let parts = path.drop { $0 == "/" }
    guard let slash = parts.firstIndex(of: "/") else { return nil }
    let seal = parts[..<slash]
    let isSignature = seal.utf8.count >= 17 && seal.utf8.allSatisfy(PathSignature.isDigit)
    return seal == "unsafe" || isSignature ? (seal, parts[parts.index(after: slash)...]) : nil
  }

  /// - Parameter forms: the path after the signature, as it may have been signed.
  private func check(_ seal: Substring, _ forms: [Substring], _ head: RequestHead) throws(PreviewError) {
    guard let key else {
      guard seal == "unsafe" else {
        throw PreviewError(403, .key, "the path is signed, and the server has no key; use /unsafe/")
      }
      return
    }
    // The key itself is as good as a signature. OpenCloud signs nothing.
    if let given = head.key, key.matches(given) { return }
    guard seal != "unsafe", forms.contains(where: { PathSignature.matches(seal, of: $0, key) }) else {
      throw PreviewError(403, .key, "the path is not signed with the server's key, and there is no API-Key")
    }
  }
}
