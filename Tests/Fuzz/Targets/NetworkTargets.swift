import Files
import Foundation

@testable import Fetching

extension FuzzTarget {
  /// Targets of the room Fetching: what servers send, and what names them.
  static let network = [
    FuzzTarget(name: "reply", run: reply), FuzzTarget(name: "listing", run: listing),
    FuzzTarget(name: "address", run: address),
  ]

  /// The header of an answer, line by line.
  private static func reply(_ input: UnsafeRawBufferPointer) {
    var header = ReplyHeader()
    for line in input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      let result = Array(line).withUnsafeBufferPointer { line in
        Result { () throws(FetchError) in try header.read(line, now: 2_000_000_000) }
      }
      guard case .success = result else { return }
    }
    if let range = header.range { precondition(range.start < range.end) }
    if let length = header.length { precondition(length >= 0) }
  }

  /// The page of a bucket, and the refusal of a request.
  private static func listing(_ input: UnsafeRawBufferPointer) {
    let bytes = Array(input)
    let refusal = S3Refusal(bytes)
    precondition(refusal.code.utf8.allSatisfy { (0x20...0x7e).contains($0) })
    guard let place = try? StoreLocation(parsing: "s3://b/d/".utf8), let page = try? ObjectPage(bytes, of: place) else {
      return
    }
    for object in page.objects {
      precondition(place.contains(object.location), "an object outside of what was asked for")
      check(object.location.mirrored(below: place.key.count))
    }
  }

  /// An address, and the place of its thumbnail; a file of profiles.
  private static func address(_ input: UnsafeRawBufferPointer) {
    _ = ProfileFile(text: String(decoding: input, as: UTF8.self)).section("default")
    guard let address = try? RemoteAddress(parsing: Array(input)) else { return }
    precondition("\(address)".unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f })
    switch address {
    case .url(let url):
      check(url.mirrored)
      precondition((try? RemoteURL(parsing: url.text.utf8))?.text == url.text, "a URL changes when it is read again")
    case .store(let location): check(location.mirrored(below: nil))
    }
  }

  /// A place is below the output folder, and file systems allow its names.
  private static func check(_ place: Path) {
    precondition(!place.isEmpty && !place.isAbsolute && place.normalized == place, "a place outside the output folder")
    precondition(place.names.allSatisfy { $0.length <= 250 }, "a name that is too long")
  }
}
