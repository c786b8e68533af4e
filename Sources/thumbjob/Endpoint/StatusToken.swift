import Foundation
import StatusEndpoint
import ThumbnailJobs

/// The token that somebody has chosen by the environment.
enum StatusToken {
  private static let variable = "THUMBJOB_TOKEN"

  /// Nil where none is.
  ///
  /// - Throws: `TextProblem` where there is one that cannot be used.
  static func chosen() throws(TextProblem) -> AccessToken? {
    guard let text = ProcessInfo.processInfo.environment[variable], !text.isEmpty else { return nil }
    guard let token = AccessToken(text) else {
      throw TextProblem("\(variable): a token has 16 to 256 letters, digits, and -._~+/=")
    }
    return token
  }
}
