/// The dialects that the server speaks.
package struct PreviewDialects: Sendable {
  /// In the order in which they are asked.
  private let all: [any Dialect]

  /// - Parameter key: what clients must know; nil if anyone may ask.
  package init(key: String?) {
    let key = key.map { SecretKey($0) }
    all = [ImaginaryDialect(key: key), ImagorDialect(key: key)]
  }

  /// A request that was understood.
  package struct Understood: Sendable {
    /// The name of the dialect.
    package let dialect: String
    package let call: PreviewCall
    /// The form field with the picture.
    package let field: String?
  }

  /// What a request asks for.
  ///
  /// - Throws: ``PreviewError``.
  package func understand(_ head: RequestHead) throws(PreviewError) -> Understood {
    for dialect in all {
      do throws(PreviewError) {
        if let call = try dialect.call(for: head) {
          return Understood(dialect: dialect.name, call: call, field: dialect.field)
        }
      } catch {
        var error = error
        error.dialect = dialect.name
        throw error
      }
    }
    throw PreviewError(404, .route, "there is no such route; docs/serve.md lists all")
  }
}
