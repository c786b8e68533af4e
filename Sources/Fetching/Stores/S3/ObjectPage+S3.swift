import Files

// The answer to `ListObjectsV2`.
//
// *Source*: Amazon S3 API Reference, ListObjectsV2.
extension ObjectPage {
  /// The most objects of a page, which no service exceeds, and the most elements: each object has a dozen or two.
  private static let mostObjects = 1000, mostElements = 50_000
  private static let longestToken = 4096

  /// - Parameter location: its bucket, and the prefix that was asked for.
  /// - Throws: ``FetchError/badReply(_:)``
  init(_ text: [UInt8], of location: StoreLocation) throws(FetchError) {
    self.init()
    // Directory buckets have no order.
    isInOrder = !location.bucket.hasSuffix("--x-s3")
    var elements = ElementReader(text)
    var (isCut, isEncoded) = (false, false)
    var keys: [(key: [UInt8], validators: Validators)] = []
    var (key, validators) = ([] as [UInt8], Validators())
    var count = 0
    while let element = try elements.next() {
      count += 1
      guard count <= Self.mostElements, keys.count <= Self.mostObjects else {
        throw .badReply("the listing has more than was asked for")
      }
      switch (element.path.count, element.path.last) {
      case (1, _):
        guard element.path[0] == "ListBucketResult" else { throw .badReply("it is no listing of a bucket") }
      case (2, "Contents"):
        keys.append((key, validators))
        (key, validators) = ([], Validators())
      case (2, "EncodingType"): isEncoded = element.text.elementsEqual("url".utf8)
      case (2, "IsTruncated"): isCut = element.text.elementsEqual("true".utf8)
      case (2, "NextContinuationToken"): next = String(decoding: element.text, as: UTF8.self)
      case (3, let name?) where element.path[1] == "Contents":
        switch name {
        case "Key": key = element.text
        case "ETag":
          // Some services leave out the quotation marks here, but not in headers.
          let text = String(decoding: element.text, as: UTF8.self)
          validators.entityTag = Validators.entityTag(text.hasSuffix("\"") ? text : "\"\(text)\"")
        case "LastModified": validators.lastModified = HTTPDate.secondsOfISO(element.text)
        default: break
        }
      default: break
      }
    }
    guard elements.hasRoot else { throw .badReply("it is no listing of a bucket") }
    if !isCut { next = nil }
    if let next, next.utf8.count > Self.longestToken { throw .badReply("the listing has too long a token") }
    if isCut, next?.isEmpty ?? true { throw .badReply("a listing that goes on does not say how") }
    for (text, validators) in keys {
      let key = isEncoded ? PercentEncoding.decoded(text, plusIsSpace: true) : text
      guard !key.isEmpty, key.count <= StoreLocation.longestKey, !key.contains(0) else {
        unusable += 1
        continue
      }
      if key.starts(with: location.key) {
        objects.append(ListedObject(location: location.with(key: key), validators: validators))
      }
    }
  }
}
