import Files

/// What is particular to a kind of store: how objects are listed, fetched and kept there.
///
/// A kind of store is a folder beside this file, a line in ``Stores``, and a case of ``StoreKind``.
///
/// *Concurrency*: every member may be called from any thread.
protocol StoreService: Sendable {
  /// - Parameter environment: the variables that say whom the requests come from.
  init(_ environment: [String: String])

  /// What is sent to a server for a request.
  ///
  /// - Throws: ``FetchError``
  func target(of request: FetchRequest, for location: StoreLocation) throws(FetchError) -> RequestTarget

  /// Lists objects whose keys begin with a prefix.
  ///
  /// - Parameters:
  ///   - prefix: the bucket, and the beginning of the keys.
  ///   - page: what the page before has told of the next; nil for the first.
  ///   - most: the most objects of the page, up to 1,000.
  ///   - ask: sends a request.
  /// - Throws: ``FetchError``
  func list(
    _ prefix: StoreLocation, page: String?, most: Int, _ ask: StoreQuestion
  ) throws(FetchError) -> ObjectPage

  /// Asks what is kept with an object.
  ///
  /// - Returns: the metadata by names in small letters; nil if there is no such object.
  /// - Throws: ``FetchError``
  func metadata(of object: StoreLocation, _ ask: StoreQuestion) throws(FetchError) -> [String: String]?

  /// Keeps an object. Another one with its key stays whole until it is replaced.
  ///
  /// - Parameters:
  ///   - replaces: whether another object is replaced. If not, and there is one, it stays.
  ///   - type: of the contents, such as `image/jpeg`.
  ///   - metadata: by names in small letters. The values must be printable ASCII without spaces at their ends.
  /// - Returns: false if another object has stayed.
  /// - Throws: ``FetchError``
  func put(
    _ bytes: [UInt8], as object: StoreLocation, type: String, metadata: [String: String], replaces: Bool,
    _ ask: StoreQuestion
  ) throws(FetchError) -> Bool
}

/// Sends a request to a store, and waits for the whole answer.
typealias StoreQuestion = (FetchRequest) throws(FetchError) -> (reply: FetchReply, text: [UInt8])
