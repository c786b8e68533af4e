import Fetching

/// Follows the pages of a listing, so that one without an end is noticed. A value.
struct ListingCourse {
  /// The most pages without an object that a service may send in a row.
  private static let mostEmptyPages = 1000

  /// What the request of the next page needs; nil for the first, and after the last.
  private(set) var next: String?
  private var last: [UInt8] = []
  private var emptyPages = 0

  /// Takes the next page.
  ///
  /// - Returns: why the listing cannot go on; nil if it can.
  package mutating func obstacle(in page: ObjectPage) -> FetchError? {
    let keys = page.objects.map(\.location.key)
    emptyPages = keys.isEmpty ? emptyPages + 1 : 0
    let isRepeated = page.next != nil && page.next == next || emptyPages > Self.mostEmptyPages
    let isBackward = page.isInOrder && keys.first.map { !last.lexicographicallyPrecedes($0) } ?? false
    if isRepeated || isBackward { return .badReply("the listing does not go on") }
    next = page.next
    last = keys.last ?? last
    return nil
  }
}
