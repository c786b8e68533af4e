/// A command cannot start. The text is the line for the user.
struct StartError: Error {
  let text: String
  let status: ExitStatus

  init(_ text: String, _ status: ExitStatus) { (self.text, self.status) = ("thumbjob: \(text)", status) }
}
