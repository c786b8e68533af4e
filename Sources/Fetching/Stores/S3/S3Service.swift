import Caching
import Foundation
import Locking

/// Finds the URLs of objects in S3, and whose keys sign the requests for them.
///
/// *Concurrency*: every member may be called from any thread.
final class S3Service: StoreService {
  private let environment: [String: String]
  /// Read when it is first needed. Guarded by its lock, which is held while the files of the account are read.
  private let account = Locked<Result<S3Account, FetchError>?>(nil)
  /// The regions of buckets that are not in that of the account.
  private let regions = LRUCache<String, String>(CacheLimits(count: 1000))

  /// - Parameter environment: the variables of the process.
  init(_ environment: [String: String]) { self.environment = environment }

  /// - Throws: ``FetchError/account(_:)``
  func target(of request: FetchRequest, for location: StoreLocation) throws(FetchError) -> RequestTarget {
    let account = account.withLock { known in
      let account = known ?? Result { () throws(FetchError) in try S3Account(environment: environment) }
      known = account
      return account
    }
    let found = try account.get()
    let region = regions[location.bucket] ?? found.region
    var target = RequestTarget(url: found.url(of: location, in: region, query: request.query))
    if let keys = found.keys {
      target.signature = { [url = target.url] request throws(FetchError) in
        try S3Signature(keys: keys, region: region, time: Int(Date().timeIntervalSince1970)).lines(
          method: request.method.rawValue, url: url, header: request.header, body: request.body)
      }
    }
    target.refusal = { [regions] header, text in
      let refusal = Self.refusal(header, text, signedFor: region)
      // The next request for the bucket is signed for the region where it is.
      if case .otherRegion(let region) = refusal { regions.insert(region, for: location.bucket) }
      return refusal
    }
    return target
  }

  /// - Parameter region: for which the request was signed.
  private static func refusal(_ header: ReplyHeader, _ text: [UInt8], signedFor region: String) -> FetchError? {
    guard header.status >= 300, header.status != 304 else { return nil }
    let refusal = S3Refusal(text)
    if let found = header.bucketRegion ?? refusal.region, found != region, S3Account.isRegion(found),
      [301, 307, 400, 403].contains(header.status)
    {
      return .otherRegion(found)
    }
    return .refused(status: header.status, code: refusal.code)
  }
}
