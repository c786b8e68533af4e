import Files

/// An object of a listing.
package struct ListedObject: Sendable, Hashable {
  package var location: S3Location
  package var validators = Validators()
  /// In bytes.
  package var size = 0
  /// Such as `STANDARD` or `GLACIER`.
  package var storageClass = ""

  /// Whether it must be restored from an archive before it can be read.
  package var isArchived: Bool { storageClass == "GLACIER" || storageClass == "DEEP_ARCHIVE" }
}

/// A page of a listing: the answer to `ListObjectsV2`.
///
/// *Source*: Amazon S3 API Reference, ListObjectsV2.
package struct ObjectPage: Sendable {
  /// The most bytes of a page: a thousand keys of a kilobyte each, three letters for each of their bytes, and the rest.
  static let mostBytes = 16 << 20

  package private(set) var objects: [ListedObject] = []
  /// What the request of the next page needs; nil if this is the last.
  package private(set) var next: String?

  /// - Parameter location: its bucket, and the prefix that was asked for.
  /// - Throws: ``FetchError/badReply(_:)``
  init(_ text: [UInt8], of location: S3Location) throws(FetchError) {
    var elements = ElementReader(text)
    var isCut = false
    var object: ListedObject?
    while let element = try elements.next() {
      switch (element.path.count, element.path.last) {
      case (1, _):
        guard element.path[0] == "ListBucketResult" else { throw .badReply("it is no listing of a bucket") }
      case (2, "Contents"):
        if let object, object.location.key.starts(with: location.key) { objects.append(object) }
        object = nil
      case (2, "IsTruncated"): isCut = element.text.elementsEqual("true".utf8)
      case (2, "NextContinuationToken"): next = String(decoding: element.text, as: UTF8.self)
      case (3, let name?) where element.path[1] == "Contents":
        var found = object ?? ListedObject(location: location.with(key: []))
        switch name {
        case "Key":
          let key = PercentEncoding.decoded(element.text, plusIsSpace: true)
          guard !key.isEmpty, key.count <= S3Location.longestKey, !key.contains(0) else {
            throw .badReply("a key in the listing is none")
          }
          found.location = location.with(key: key)
        case "ETag":
          // Some services leave out the quotation marks here, but not in headers.
          let text = String(decoding: element.text, as: UTF8.self)
          found.validators.entityTag = Validators.entityTag(text.hasSuffix("\"") ? text : "\"\(text)\"")
        case "LastModified": found.validators.lastModified = HTTPDate.secondsOfISO(element.text)
        case "Size": found.size = Int(String(decoding: element.text, as: UTF8.self)) ?? 0
        case "StorageClass": found.storageClass = String(decoding: element.text.prefix(40), as: UTF8.self)
        default: break
        }
        object = found
      default: break
      }
    }
    guard elements.hasRoot else { throw .badReply("it is no listing of a bucket") }
    if !isCut { next = nil }
    if isCut, next?.isEmpty ?? true { throw .badReply("a listing that goes on does not say how") }
  }
}
