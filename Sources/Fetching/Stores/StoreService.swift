import Files

/// What is particular to a kind of store: how its addresses begin, and how objects are listed, fetched and kept there.
///
/// A kind of store is a folder beside this file, and a line in ``Stores/services``.
///
/// *Concurrency*: every member may be called from any thread.
protocol StoreService: Sendable {
  /// With what its addresses begin, in small letters: `s3://`.
  static var prefix: String { get }

  /// Whether objects are listed in the order of the bytes of their keys.
  static func listsInOrder(_ bucket: String) -> Bool

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

/// What is sent to a server for a request.
struct RequestTarget: Sendable {
  let url: RemoteURL
  /// The lines that sign a request now.
  var signature: @Sendable (FetchRequest) throws(FetchError) -> [String] = { _ in [] }
  /// What an answer means, with the beginning of its text; nil if the store has done what was asked. Nil for a server that is
  /// no store.
  var refusal: (@Sendable (ReplyHeader, [UInt8]) -> FetchError?)?
}

/// The stores of a process.
struct Stores: Sendable {
  /// The kinds of stores. One goes with its folder and its line here.
  private static let services: [any StoreService.Type] = [S3Service.self]

  private let services: [String: any StoreService]

  /// - Parameter environment: the variables that say whom the requests come from.
  init(_ environment: [String: String]) {
    services = Dictionary(
      uniqueKeysWithValues: Self.services.map { ($0.prefix, $0.init(environment)) as (String, any StoreService) })
  }

  /// The store of a location.
  func service(of location: StoreLocation) -> any StoreService {
    guard let service = services[location.prefix] else { preconditionFailure("no store is called \(location.prefix)") }
    return service
  }

  /// What is sent to a server for a request.
  ///
  /// - Throws: ``FetchError``
  func target(of request: FetchRequest) throws(FetchError) -> RequestTarget {
    switch request.address {
    case .url(let url): RequestTarget(url: url)
    case .store(let location): try service(of: location).target(of: request, for: location)
    }
  }

  static func type(of location: StoreLocation) -> (any StoreService.Type)? {
    services.first { $0.prefix == location.prefix }
  }

  /// With what an address in a store begins; nil if the text is none.
  static func prefix(of address: some Collection<UInt8>) -> String? {
    services.lazy.map { $0.prefix }.first { prefix in
      address.prefix(prefix.utf8.count).map(\.lowercasedASCII).elementsEqual(prefix.utf8)
    }
  }
}
