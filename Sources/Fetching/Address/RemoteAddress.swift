import Files

/// The address of a source on the network: a URL, or an object in a bucket.
package enum RemoteAddress: Sendable, Hashable {
  case url(RemoteURL)
  case store(StoreLocation)

  /// Reads `http://…`, `https://…` or `s3://…`.
  ///
  /// - Throws: ``RemoteURLError``
  package init(parsing bytes: some Collection<UInt8>) throws(RemoteURLError) {
    self =
      StoreLocation.isLocation(bytes) ? .store(try StoreLocation(parsing: bytes)) : .url(try RemoteURL(parsing: bytes))
  }

  /// Whether it may be the beginning of the keys of several objects.
  package var isPartOfBucket: Bool { if case .store = self { true } else { false } }

  /// The address as a path of people's messages: without user, password and secrets.
  package var path: Path {
    switch self {
    case .url(let url): Path("\(url)")
    // The key as it is, so that JSON can tell its bytes.
    case .store(let location): Path(bytes: location.text) ?? Path()
    }
  }

  /// Who answers for what is there: the host and its port, or the bucket.
  package var host: String {
    switch self {
    case .url(let url): url.authority
    case .store(let location): location.host
    }
  }

  /// The same for all links to a file, however they are signed.
  package var identity: [UInt8] {
    switch self {
    case .url(let url): Array(url.identity.utf8)
    case .store(let location): location.text
    }
  }

  /// A text that may be an address, for people: without user, password and secrets.
  package static func printable(_ bytes: some Collection<UInt8>) -> String { RemoteURL.printable(bytes) }
}

extension RemoteAddress: CustomStringConvertible {
  /// The address for people, without user, password and secrets.
  package var description: String {
    switch self {
    case .url(let url): "\(url)"
    case .store(let location): "\(location)"
    }
  }
}
