import Fetching

/// What the head of a request says.
package struct RequestHead: Sendable {
  package let method: String
  /// The path as it was sent, with its percent escapes.
  package let path: String
  /// The parameters after the question mark, decoded, in their order.
  package let query: [QueryItem]
  /// The field API-Key.
  package let key: String?
  package let contentType: String?
  package let accept: String?

  package struct QueryItem: Sendable, Equatable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
  }

  package init(
    method: String, path: String, query: [QueryItem] = [], key: String? = nil, contentType: String? = nil,
    accept: String? = nil
  ) {
    (self.method, self.path, self.query) = (method, path, query)
    (self.key, self.contentType, self.accept) = (key, contentType, accept)
  }

  /// - Parameter target: path and query, as in the first line of a request.
  /// - Throws: ``PreviewError`` for a query with more than ``mostParameters`` parameters, or with text that is not UTF-8.
  package init(
    method: String, target: String, key: String? = nil, contentType: String? = nil, accept: String? = nil
  ) throws(PreviewError) {
    let path = target.prefix { $0 != "?" }
    let pairs = target.dropFirst(path.count).dropFirst().split(separator: "&")
    guard pairs.count <= Self.mostParameters else { throw .badRequest("the request has too many parameters") }
    var query: [QueryItem] = []
    for pair in pairs {
      let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = PercentEncoding.text(halves[0], plusIsSpace: true),
        let value = halves.count < 2 ? "" : PercentEncoding.text(halves[1], plusIsSpace: true)
      else { throw .badRequest("a parameter is not percent-encoded UTF-8") }
      query.append(QueryItem(name, value))
    }
    self.init(method: method, path: String(path), query: query, key: key, contentType: contentType, accept: accept)
  }

  private static let mostParameters = 64

  /// The value of a parameter; the last one if it is given several times.
  func value(_ name: String) -> String? { query.last { $0.name == name }?.value }
}
