/// An object of a listing.
package struct ListedObject: Sendable, Hashable {
  package let location: StoreLocation
  package let validators: Validators
}

/// A page of a listing.
package struct ObjectPage: Sendable {
  /// The most bytes of a page: a thousand keys of a kilobyte each, three letters for each of their bytes, and the rest.
  static let mostBytes = 16 << 20

  package var objects: [ListedObject] = []
  /// How many objects are left out, because their keys are none that thumbjob can use.
  package var unusable = 0
  /// Whether all objects come in the order of the bytes of their keys.
  package var isInOrder = true
  /// What the request of the next page needs; nil if this is the last.
  package var next: String?
}
