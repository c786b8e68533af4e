import Files

// Listings, and what is kept there.
extension S3Service {
  func list(
    _ prefix: StoreLocation, page: String?, most: Int, _ ask: StoreQuestion
  ) throws(FetchError) -> ObjectPage {
    var request = FetchRequest(.store(prefix.with(key: [])))
    let parameters = [
      page.map { "continuation-token=\(PercentEncoding.encoded($0.utf8))" }, "encoding-type=url", "list-type=2",
      "max-keys=\(most)", "prefix=\(PercentEncoding.encoded(prefix.key))",
    ]
    request.query = parameters.compactMap { $0 }.joined(separator: "&")
    let (_, text) = try ask(request)
    return try ObjectPage(text, of: prefix)
  }

  func metadata(of object: StoreLocation, _ ask: StoreQuestion) throws(FetchError) -> [String: String]? {
    var request = FetchRequest(.store(object))
    request.method = .head
    do throws(FetchError) { return try ask(request).reply.metadata } catch {
      if case .refused(status: 404, _) = error { return nil }
      guard case .refused(status: 400...403, code: "") = error else { throw error }
      // The answer to HEAD has no body, in which the reason would be.
      request.method = .get
      request.header = ["Range: bytes=0-0"]
      do throws(FetchError) { _ = try ask(request) } catch {
        if case .refused(_, code: "NoSuchKey") = error { return nil }
        if case .refused(_, let code) = error, !code.isEmpty { throw error }
      }
      throw error
    }
  }

  func put(
    _ bytes: [UInt8], as object: StoreLocation, type: String, metadata: [String: String], replaces: Bool,
    _ ask: StoreQuestion
  ) throws(FetchError) -> Bool {
    var request = FetchRequest(.store(object))
    request.method = .put
    request.body = bytes
    request.header = ["Content-Type: \(type)"] + metadata.map { "x-amz-meta-\($0.key): \($0.value)" }
    if !replaces {
      request.header.append("If-None-Match: *")
      do throws(FetchError) {
        try keep(request, ask)
        return true
      } catch {
        switch error {
        case .refused(status: 412, _): return false
        // Not every service knows the condition.
        case .refused(status: 501, _), .refused(_, code: "NotImplemented"):
          if try self.metadata(of: object, ask) != nil { return false }
          request.header.removeLast()
        default: throw error
        }
      }
    }
    try keep(request, ask)
    return true
  }

  /// Sends a PUT. Some services tell an error with the status of a success.
  private func keep(_ request: FetchRequest, _ ask: StoreQuestion) throws(FetchError) {
    let refusal = S3Refusal(try ask(request).text)
    if !refusal.code.isEmpty { throw .refused(status: 200, code: refusal.code) }
  }
}
