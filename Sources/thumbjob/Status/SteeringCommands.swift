import ArgumentParser
import StatusEndpoint

/// `thumbjob cancel`: cancels a job or one of its operations.
struct CancelCommand: Subcommand {
  static let name = "cancel"
  static let handlesSignals = false
  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Cancels a running job, or one of its operations.",
    usage: "thumbjob cancel [<pid or address> [<operation>]]")

  @OptionGroup var options: TargetOptions
  @Argument(
    help: "The number of an operation, as thumbjob status shows it.",
    transform: { text in
      guard let number = Int(text.drop { $0 == "#" }) else { throw ValidationError("“\(text)” is not a number") }
      return number
    })
  var operation: Int?

  func run() throws {
    let target = try options.chosen()
    guard let operation else {
      let count = try target.ask { client throws(StatusClientError) in try client.cancelAll() }
      Console().print("thumbjob: cancelled all: \(count.running) running, \(count.waiting) waiting")
      return
    }
    let count = try target.ask { client throws(StatusClientError) in try client.cancel(operation) }
    Console().print("thumbjob: cancelled #\(operation), which was \(count.running > 0 ? "running" : "waiting")")
  }
}

/// `thumbjob pause`: pauses a job.
struct PauseCommand: Subcommand {
  static let name = "pause"
  static let handlesSignals = false
  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Pauses a running job: it starts nothing new.",
    usage: "thumbjob pause [<pid or address>]")

  @OptionGroup var options: TargetOptions

  func run() throws {
    let target = try options.chosen()
    try target.ask { client throws(StatusClientError) in try client.pause() }
    Console().print(
      "thumbjob: \(target.name) is paused; running operations finish, and thumbjob resume continues with the rest")
  }
}

/// `thumbjob resume`: resumes a paused job.
struct ResumeCommand: Subcommand {
  static let name = "resume"
  static let handlesSignals = false
  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Resumes a paused job.", usage: "thumbjob resume [<pid or address>]")

  @OptionGroup var options: TargetOptions

  func run() throws {
    let target = try options.chosen()
    try target.ask { client throws(StatusClientError) in try client.resume() }
    Console().print("thumbjob: \(target.name) is resumed")
  }
}
