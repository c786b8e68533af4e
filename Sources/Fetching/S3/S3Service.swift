import Caching
import Foundation
import Locking

/// Finds the URLs of objects in S3, and whose keys sign the requests for them.
///
/// *Concurrency*: every member may be called from any thread.
final class S3Service: Sendable {
  /// What is sent to a server for a request.
  struct Target {
    let url: RemoteURL
    /// For which the request is signed; nil if it is not.
    var region: String?
    /// Whose keys sign it; nil if it is not signed.
    var keys: S3Account.Keys?

    /// The lines that sign a request now.
    ///
    /// - Throws: ``FetchError/noLibrary(_:)``
    func signature(of request: FetchRequest) throws(FetchError) -> [String] {
      guard let keys, let region else { return [] }
      return try S3Signature(keys: keys, region: region, time: Int(Date().timeIntervalSince1970)).lines(
        method: request.method.rawValue, url: url, header: request.header, body: request.body)
    }
  }

  private let environment: [String: String]
  /// Read when it is first needed. Guarded by its lock, which is held while the files of the account are read.
  private let account = Locked<Result<S3Account, FetchError>?>(nil)
  /// The regions of buckets that are not in that of the account.
  private let regions = LRUCache<String, String>(CacheLimits(count: 1000))

  /// - Parameter environment: the variables of the process.
  init(_ environment: [String: String]) { self.environment = environment }

  /// - Throws: ``FetchError/account(_:)``
  func target(of request: FetchRequest) throws(FetchError) -> Target {
    switch request.address {
    case .url(let url): return Target(url: url)
    case .s3(let location):
      let account = account.withLock { known in
        let account = known ?? Result { () throws(FetchError) in try S3Account(environment: environment) }
        known = account
        return account
      }
      let found = try account.get()
      let region = regions[location.bucket] ?? found.region
      return Target(
        url: found.url(of: location, in: region, query: request.query), region: region, keys: found.keys)
    }
  }

  /// Notes where a bucket is.
  func note(_ region: String, of address: RemoteAddress) {
    if case .s3(let location) = address { regions.insert(region, for: location.bucket) }
  }
}
