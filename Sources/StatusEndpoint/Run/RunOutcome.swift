/// How a run has ended.
public struct RunOutcome: Codable, Sendable, Equatable {
  /// What became of the sources as a whole.
  public enum Result: String, Codable, Sendable, CaseIterable {
    /// Every source is done, and none has failed.
    case complete
    /// The run reached its end, but sources failed or could not be read, or something else went wrong.
    case failed
    /// The run ended before all sources were done.
    case stopped
  }

  /// What stopped a run.
  public enum Cause: String, Codable, Sendable, CaseIterable {
    /// A user, through this endpoint.
    case user
    /// A signal to the process.
    case signal
    /// The time for the run was over.
    case time
    /// Too many sources failed.
    case failures
    /// Memory was tight.
    case pressure
    /// The output of the run, such as its standard output, could no longer be written.
    case output
  }

  public var result: Result
  /// Nil unless the result is `stopped`.
  public var cause: Cause?
  /// One line for people: the result, the cause, and the counts that matter.
  public var text: String
  /// The exit status of the process.
  public var exitStatus: Int

  enum CodingKeys: String, CodingKey {
    case result, cause, text
    case exitStatus = "exit_status"
  }

  public init(_ result: Result, cause: Cause? = nil, text: String, exitStatus: Int) {
    (self.result, self.cause, self.text, self.exitStatus) = (result, cause, text, exitStatus)
  }
}
