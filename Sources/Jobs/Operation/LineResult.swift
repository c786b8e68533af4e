/// The result of one source as a line of text, in a kind of job that makes no files.
package struct LineResult: Sendable {
  /// The line for programs, with a newline at its end.
  package let bytes: [UInt8]
  /// The line for people.
  package let text: String
  /// The fields of the source's event in JSON. Their names are in camel case.
  package let fields: any Encodable & Sendable

  init(_ bytes: [UInt8], text: String, fields: any Encodable & Sendable) {
    (self.bytes, self.text, self.fields) = (bytes, text, fields)
  }
}
