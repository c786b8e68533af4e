import Fetching

/// Lists the objects of buckets, page by page.
package protocol ObjectLister: Sendable {
  /// Lists objects whose keys begin with a prefix, in the order of their bytes.
  ///
  /// - Parameters:
  ///   - page: what the page before has told of the next; nil for the first.
  ///   - most: the most objects of the page, up to 1,000.
  ///   - isCancelled: asked every ten milliseconds at least, on the thread of the caller.
  /// - Throws: `FetchError`
  func list(
    _ prefix: StoreLocation, page: String?, most: Int, isCancelled: () -> Bool
  ) throws(FetchError) -> ObjectPage
}
