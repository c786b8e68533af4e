/// A line of JSON with the fields of two values.
struct MergedLine: Encodable {
  private let values: [any Encodable]

  init(_ one: any Encodable, _ other: any Encodable) { values = [one, other] }

  func encode(to encoder: any Encoder) throws { for value in values { try value.encode(to: encoder) } }
}
