import ArgumentParser
import JobSettings

extension RunSession {
  /// Runs the job with the settings that `read` gives, and prints the mistakes of a job file.
  ///
  /// - Throws: the errors of `read`, or the exit status of a job file with mistakes.
  static func run(_ read: () throws -> RunSettings) throws -> ExitCode {
    let settings: RunSettings
    do {
      settings = try read()
    } catch let error as JobFileError {
      // One line for each mistake.
      Console().print("\(error)".split(separator: "\n").map { "thumbjob: \($0)" }.joined(separator: "\n"))
      throw (error.isMissing ? ExitStatus.noSuchSource : .jobFileInvalid).code
    }
    return RunSession(settings).run()
  }
}
