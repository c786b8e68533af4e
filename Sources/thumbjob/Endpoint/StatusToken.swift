import Foundation
import JobSettings
import StatusEndpoint

/// The access token that the user has chosen in the environment.
enum StatusToken {
  private static let variable = "THUMBJOB_TOKEN"

  /// Nil if the user has chosen none.
  ///
  /// - Throws: `TextError` if the token is invalid.
  static func chosen() throws(TextError) -> AccessToken? {
    guard let text = ProcessInfo.processInfo.environment[variable], !text.isEmpty else { return nil }
    guard let token = AccessToken(text) else {
      throw TextError("\(variable): a token has 16 to 256 letters, digits, and -._~+/=")
    }
    return token
  }
}
