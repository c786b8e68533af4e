import Files
import SystemPackage

// S3: listings, and what is kept there.
extension Fetcher {
  /// Lists objects whose keys begin with a prefix, in the order of their bytes.
  ///
  /// - Parameters:
  ///   - prefix: the bucket, and the beginning of the keys.
  ///   - page: what the page before has told of the next; nil for the first.
  ///   - most: the most objects of the page, up to 1,000.
  ///   - isCancelled: asked every ten milliseconds at least, on the thread of the caller.
  /// - Throws: ``FetchError``
  package func list(
    _ prefix: S3Location, page: String?, most: Int = 1000, isCancelled: () -> Bool
  ) throws(FetchError) -> ObjectPage {
    var request = FetchRequest(.s3(prefix.with(key: [])))
    let parameters = [
      page.map { "continuation-token=\(PercentEncoding.encoded($0.utf8))" }, "encoding-type=url", "list-type=2",
      "max-keys=\(most)", "prefix=\(PercentEncoding.encoded(prefix.key))",
    ]
    request.query = parameters.compactMap { $0 }.joined(separator: "&")
    let (_, text) = try answer(to: request, isCancelled)
    return try ObjectPage(text, of: prefix)
  }

  /// Asks what is kept with an object.
  ///
  /// - Returns: the metadata by names in small letters; nil if there is no such object.
  /// - Throws: ``FetchError``
  package func metadata(of object: S3Location, isCancelled: () -> Bool) throws(FetchError) -> [String: String]? {
    var request = FetchRequest(.s3(object))
    request.method = .head
    do throws(FetchError) { return try answer(to: request, isCancelled).reply.metadata } catch {
      if case .s3(status: 404, _) = error { return nil }
      guard case .s3(status: 400...403, code: "") = error else { throw error }
      // The answer to HEAD has no body, in which the reason would be.
      request.method = .get
      request.header = ["Range: bytes=0-0"]
      do throws(FetchError) { _ = try answer(to: request, isCancelled) } catch {
        if case .s3(_, code: "NoSuchKey") = error { return nil }
        if case .s3(_, let code) = error, !code.isEmpty { throw error }
      }
      throw error
    }
  }

  /// Keeps an object. Another one with its key stays whole until it is replaced.
  ///
  /// - Parameters:
  ///   - replaces: whether another object is replaced. If not, and there is one, it stays.
  ///   - type: of the contents, such as `image/jpeg`.
  ///   - metadata: by names in small letters. The values must be printable ASCII without spaces at their ends.
  /// - Returns: false if another object has stayed.
  /// - Throws: ``FetchError``
  package func put(
    _ bytes: [UInt8], as object: S3Location, type: String, metadata: [String: String], replaces: Bool,
    isCancelled: () -> Bool
  ) throws(FetchError) -> Bool {
    var request = FetchRequest(.s3(object))
    request.method = .put
    request.body = bytes
    request.header = ["Content-Type: \(type)"] + metadata.map { "x-amz-meta-\($0.key): \($0.value)" }
    if !replaces {
      request.header.append("If-None-Match: *")
      do throws(FetchError) {
        try keep(request, isCancelled)
        return true
      } catch {
        switch error {
        case .s3(status: 412, _): return false
        // Not every service knows the condition.
        case .s3(status: 501, _), .s3(_, code: "NotImplemented"):
          if try self.metadata(of: object, isCancelled: isCancelled) != nil { return false }
          request.header.removeLast()
        default: throw error
        }
      }
    }
    try keep(request, isCancelled)
    return true
  }

  /// Sends a PUT. Some services tell an error with the status of a success.
  private func keep(_ request: FetchRequest, _ isCancelled: () -> Bool) throws(FetchError) {
    let refusal = S3Refusal(try answer(to: request, isCancelled).text)
    if !refusal.code.isEmpty { throw .s3(status: 200, code: refusal.code) }
  }

  private func answer(
    to request: FetchRequest, _ isCancelled: () -> Bool
  ) throws(FetchError) -> (reply: FetchReply, text: [UInt8]) {
    var request = request
    request.largest = ObjectPage.mostBytes
    let file = try Spool(inMemory: ObjectPage.mostBytes).file()
    let asked = request
    let result = withoutActuallyEscaping(isCancelled) { isCancelled in
      Result { () throws(FetchError) in try fetch(asked, into: file, monitor: Waiting(ask: isCancelled)) }
    }
    let reply: FetchReply
    do throws(FetchError) { reply = try result.get() } catch {
      // This limit is no setting.
      if case .tooLarge = error { throw .badReply("it has more than \(ByteCount.limit(ObjectPage.mostBytes))") }
      throw error
    }
    do throws(Errno) { return (reply, try readAll(file.size, from: file.descriptor, at: 0)) } catch {
      throw .spool(error)
    }
  }
}

/// Takes everything that comes.
private struct Waiting: FetchMonitor {
  let ask: () -> Bool

  var isCancelled: Bool { ask() }
  func restarted() {}
  func received(_ count: Int, of total: Int?) -> FetchVerdict { .all }
  func needs(_ validators: Validators) -> Bool { true }
  func entered(_ stage: FetchStage) {}
}
