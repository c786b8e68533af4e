#if Endpoint
import Foundation
import NIOCore

extension LimitsChange {
  /// Reads the body of `PATCH /limits`: an object with at least one known key and no others.
  ///
  /// - Throws: ``HTTPError``
  init(json body: ByteBuffer) throws(HTTPError) {
    let object: [String: JSONNumber]
    do {
      object = try JSONText.decode([String: JSONNumber].self, from: body.readableBytesView)
    } catch {
      throw Self.refused("the body must be a JSON object of whole numbers, such as {\"max\": 2}")
    }
    let known = CodingKeys.allCases.map(\.rawValue)
    if let other = object.keys.sorted().first(where: { !known.contains($0) }) {
      throw Self.refused("unknown key \"\(other.prefix(40))\"; known are \(known.joined(separator: ", "))")
    }
    guard !object.isEmpty else { throw Self.refused("give at least one of \(known.joined(separator: ", "))") }
    func number(_ key: CodingKeys, _ range: ClosedRange<Int>) throws(HTTPError) -> Int? {
      guard let given = object[key.rawValue] else { return nil }
      guard let value = given.value, range.contains(value) else {
        throw Self.refused(
          "\(key.rawValue) must be a whole number from \(range.lowerBound) to \(range.upperBound)")
      }
      return value
    }
    self.init(
      max: try number(.max, Self.maxRange), backlog: try number(.backlog, Self.backlogRange),
      budgetBytes: try number(.budgetBytes, Self.budgetRange))
  }

  private static func refused(_ text: String) -> HTTPError { HTTPError(.badRequest, text) }
}

/// A JSON integer; nil for any other value, even if it could be converted.
private struct JSONNumber: Decodable {
  let value: Int?

  init(from decoder: any Decoder) throws { value = try? decoder.singleValueContainer().decode(Int.self) }
}
#endif
