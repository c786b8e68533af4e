/// What a server tells to distinguish versions of a source.
///
/// *Source*: RFC 9110, 8.8.
package struct Validators: Sendable, Hashable {
  /// With its quotation marks, and `W/` before them if it is weak.
  package var entityTag: String?
  /// In seconds since 1970.
  package var lastModified: Int?

  package init(entityTag: String? = nil, lastModified: Int? = nil) {
    (self.entityTag, self.lastModified) = (entityTag, lastModified)
  }

  /// - Returns: the tag; nil if it is none.
  static func entityTag(_ text: String) -> String? {
    let isLegal = text.utf8.count <= 512 && text.utf8.allSatisfy { (0x21...0x7e).contains($0) } && text.hasSuffix("\"")
    return isLegal ? text : nil
  }

  /// What identifies the very bytes, so that a transfer that broke off can go on; nil if nothing does.
  var ofBytes: String? { entityTag.flatMap { $0.hasPrefix("W/") ? nil : $0 } }
}
