#if Endpoint
import Foundation
import HTTPTypes
import NIOCore

/// The web page and the OpenAPI description. Both are files in the folder `Page`, which the build embeds in the program.
enum StatusPage {
  /// In order: later files use the declarations of earlier ones.
  private static let script = [
    PackageResources.ask_js, PackageResources.text_js, PackageResources.run_js, PackageResources.limits_js,
    PackageResources.operations_js, PackageResources.thumbnails_js, PackageResources.viewer_js,
    PackageResources.charts_js, PackageResources.listen_js,
  ].map(text).joined(separator: "\n")
  private static let document = text(PackageResources.page_html)
    .replacing("{{style}}", with: text(PackageResources.style_css)).replacing("{{script}}", with: script)
    .replacing("{{most-operations}}", with: "\(LimitsChange.maxRange.upperBound)")

  /// One document that loads no other files. Its style and script carry a nonce that is new for each answer, and the content
  /// security policy allows nothing without it.
  ///
  /// - Parameter needsToken: whether a change needs the token, so that the page is read-only without it.
  static func answer(needsToken: Bool) -> Answer {
    let nonce = String(AccessToken().text.prefix(32))
    let document = document.replacing("{{nonce}}", with: nonce)
      .replacing("{{needs-token}}", with: needsToken ? "yes" : "no")
    var answer = Answer.text(document, type: "text/html; charset=utf-8")
    answer.headers[.contentSecurityPolicy] =
      "default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; img-src blob: data:; "
      + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    answer.headers[.referrerPolicy] = "no-referrer"
    answer.headers[.crossOriginOpenerPolicy] = "same-origin"
    return answer
  }

  /// The OpenAPI 3 description of all routes.
  ///
  /// - Parameter counters: those that the run declares.
  static func description(with counters: [RunCounter]) -> Answer {
    let keys = counters.map { quoted($0.key) }
    let properties = zip(keys, counters).map { key, counter in
      #"\#(key): {"type": "integer", "minimum": 0, "description": \#(quoted(counter.meaning))}"#
    }
    let text = text(PackageResources.openapi_json)
      .replacing(#""{{counters}}": {}"#, with: properties.joined(separator: ",\n     "))
      .replacing(#""{{counters}}""#, with: keys.joined(separator: ",\n     "))
    return Answer("application/json", .bytes(ByteBuffer(string: text)))
  }

  /// A text as a string of JSON.
  private static func quoted(_ text: String) -> String { String(decoding: JSONText.encode(text), as: UTF8.self) }

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

extension HTTPField.Name {
  static let referrerPolicy = Self("Referrer-Policy")!
  static let crossOriginOpenerPolicy = Self("Cross-Origin-Opener-Policy")!
}
#endif
