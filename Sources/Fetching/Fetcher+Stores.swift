import Files

// Stores: listings, and what is kept there.
extension Fetcher {
  /// Lists objects whose keys begin with a prefix.
  ///
  /// - Parameters:
  ///   - prefix: the bucket, and the beginning of the keys.
  ///   - page: what the page before has told of the next; nil for the first.
  ///   - most: the most objects of the page, up to 1,000.
  ///   - isCancelled: asked every ten milliseconds at least, on the thread of the caller.
  /// - Throws: ``FetchError``
  package func list(
    _ prefix: StoreLocation, page: String?, most: Int = 1000, isCancelled: () -> Bool
  ) throws(FetchError) -> ObjectPage {
    try stores.service(of: prefix).list(prefix, page: page, most: most) { request throws(FetchError) in
      try answer(to: request, isCancelled)
    }
  }

  /// Asks what is kept with an object.
  ///
  /// - Returns: the metadata by names in small letters; nil if there is no such object.
  /// - Throws: ``FetchError``
  package func metadata(of object: StoreLocation, isCancelled: () -> Bool) throws(FetchError) -> [String: String]? {
    try stores.service(of: object).metadata(of: object) { request throws(FetchError) in
      try answer(to: request, isCancelled)
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
    _ bytes: [UInt8], as object: StoreLocation, type: String, metadata: [String: String], replaces: Bool,
    isCancelled: () -> Bool
  ) throws(FetchError) -> Bool {
    try stores.service(of: object).put(bytes, as: object, type: type, metadata: metadata, replaces: replaces) {
      request throws(FetchError) in try answer(to: request, isCancelled)
    }
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
