/// The stores of a process.
struct Stores: Sendable {
  private let services: [StoreKind: any StoreService]

  /// - Parameter environment: the variables that say whom the requests come from.
  init(_ environment: [String: String]) {
    services = [.s3: S3Service(environment)]
  }

  /// The store of a location.
  func service(of location: StoreLocation) -> any StoreService {
    guard let service = services[location.kind] else { preconditionFailure("no store is of the kind \(location.kind)") }
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
}
