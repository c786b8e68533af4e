import Fetching

/// Keeps thumbnails in buckets.
///
/// *Concurrency*: every member may be called from any thread. All block.
package protocol ObjectStore: Sendable {
  /// What is kept with an object, by names in small letters; nil if there is no such object.
  ///
  /// - Parameter isCancelled: asked every ten milliseconds at least, on the thread of the caller.
  /// - Throws: `FetchError`
  func metadata(of object: StoreLocation, isCancelled: () -> Bool) throws(FetchError) -> [String: String]?

  /// Keeps a thumbnail.
  ///
  /// - Parameter type: the media type, such as `image/jpeg`.
  /// - Parameter replaces: whether another object with this key is replaced. If not, and there is one, it stays.
  /// - Returns: false if another object has stayed.
  /// - Throws: `FetchError`
  func put(
    _ thumbnail: [UInt8], as object: StoreLocation, type: String, metadata: [String: String], replaces: Bool,
    isCancelled: () -> Bool
  ) throws(FetchError) -> Bool
}
