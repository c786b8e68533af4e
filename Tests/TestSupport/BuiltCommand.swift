import Foundation
import Subprocess

#if canImport(System)
import System
#else
import SystemPackage
#endif

/// Runs the built binary as a user does.
public struct BuiltCommand: Sendable {
  /// The result of a run.
  public struct Ending: Sendable {
    /// The exit status; 128 plus its number if a signal killed the process.
    public let status: Int
    /// Standard output.
    public let output: String
    /// Standard error.
    public let errors: String
  }

  /// A process that runs.
  public struct Run: Sendable {
    public let processID: pid_t
    fileprivate let errorFile: String
    fileprivate let outputFile: String

    public func send(_ signal: CInt) { kill(processID, signal) }

    /// Standard error so far.
    public var errors: String { BuiltCommand.text(errorFile) }
    /// Standard output so far.
    public var output: String { BuiltCommand.text(outputFile) }

    /// The end of standard output so far. Reading a megabyte again and again takes longer than a test may.
    ///
    /// - Parameter bytes: the most of it.
    public func outputEnd(_ bytes: Int) -> String {
      guard let file = FileHandle(forReadingAtPath: outputFile), let size = try? file.seekToEnd() else { return "" }
      try? file.seek(toOffset: size - min(size, UInt64(bytes)))
      return String(decoding: (try? file.readToEnd()) ?? Data(), as: UTF8.self)
    }

    /// Whether the process blocks a signal.
    public func holdsBack(_ signal: CInt) -> Bool { mask("SigBlk", has: signal) }

    /// Whether a signal that was sent to the process is still pending.
    public func hasPending(_ signal: CInt) -> Bool { mask("ShdPnd", has: signal) }

    /// Whether a signal mask in `/proc/PID/status` contains a signal; see proc_pid_status(5).
    private func mask(_ name: String, has signal: CInt) -> Bool {
      let status = BuiltCommand.text("/proc/\(processID)/status")
      guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("\(name):") }),
        let mask = UInt64(line.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces), radix: 16)
      else { return false }
      return mask >> UInt64(signal - 1) & 1 == 1
    }
  }

  /// The path of the binary, which the build puts next to the test bundle.
  public static let path = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("thumbjob").path

  public static func run(
    _ arguments: String..., in folder: TemporaryFolder, environment: [String: String] = [:],
    during body: @escaping @Sendable (Run) async throws -> Void = { _ in }
  ) async throws -> Ending {
    try await run(executable: path, arguments, in: folder, environment: environment, during: body)
  }

  /// Runs any program. Its output goes to files, so that it never waits for the test to read.
  ///
  /// Unless `environment` sets another runtime folder, it is in the working folder, so that a test never finds the jobs of
  /// another.
  ///
  /// - Parameter body: called while the program runs.
  public static func run(
    executable: String, _ arguments: [String], in folder: TemporaryFolder, environment: [String: String] = [:],
    during body: @escaping @Sendable (Run) async throws -> Void = { _ in }
  ) async throws -> Ending {
    let (outputFile, errorFile) = (folder(".stdout-\(UUID())"), folder(".stderr-\(UUID())"))
    let output = try FileDescriptor.open(
      outputFile, .writeOnly, options: [.create, .append], permissions: .ownerReadWrite)
    let errors = try FileDescriptor.open(
      errorFile, .writeOnly, options: [.create, .append], permissions: .ownerReadWrite)
    let status = try await start(executable, arguments, output, errors, in: folder, environment) { processID in
      try await body(Run(processID: processID, errorFile: errorFile, outputFile: outputFile))
    }
    return Ending(status: status, output: text(outputFile), errors: withoutShellWarnings(text(errorFile)))
  }

  /// Runs the built binary, or another program, with standard output and error on a terminal, which collects both.
  ///
  /// - Returns: the exit status; 128 plus its number if a signal killed the process.
  public static func run(
    executable: String = path, _ arguments: [String], on terminal: PseudoTerminal, in folder: TemporaryFolder,
    environment: [String: String] = [:],
    during body: @escaping @Sendable (_ processID: pid_t) async throws -> Void = { _ in }
  ) async throws -> Int {
    let (output, errors) = (terminal.opened(), terminal.opened())
    terminal.collect()
    // An empty NO_COLOR counts as none.
    let environment = ["TERM": "xterm-256color", "NO_COLOR": ""].merging(environment) { $1 }
    let status = try await start(executable, arguments, output, errors, in: folder, environment, during: body)
    try await terminal.drain()
    return status
  }

  /// - Returns: the exit status; 128 plus its number if a signal killed the process.
  private static func start(
    _ executable: String, _ arguments: [String], _ output: FileDescriptor, _ errors: FileDescriptor,
    in folder: TemporaryFolder, _ environment: [String: String],
    during body: @escaping @Sendable (_ processID: pid_t) async throws -> Void
  ) async throws -> Int {
    // Messages are the same whatever the locale of the tests.
    let fixed = ["THUMBJOB_RUNTIME_DIR": folder("thumbjob"), "LC_ALL": "C.UTF-8"]
    let variables = Dictionary(
      uniqueKeysWithValues: environment.merging(fixed) { given, _ in given }
        .map { (Environment.Key(stringLiteral: $0.key), Optional($0.value)) })
    let result = try await Subprocess.run(
      .path(FilePath(executable)), arguments: Arguments(arguments), environment: .inherit.updating(variables),
      workingDirectory: FilePath(folder.path), input: .none,
      output: .fileDescriptor(output, closeAfterSpawningProcess: true),
      error: .fileDescriptor(errors, closeAfterSpawningProcess: true)
    ) { execution in
      try await body(pid_t(execution.processIdentifier.value))
    }
    return switch result.terminationStatus {
    case .exited(let code): Int(code)
    case .signaled(let code): 128 + Int(code)
    }
  }

  /// Removes the warnings of a shell that starts the command while the environment names a locale that is not
  /// installed.
  private static func withoutShellWarnings(_ errors: String) -> String {
    errors.split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.contains("bash: warning: setlocale: ") }.joined(separator: "\n")
  }

  private static func text(_ file: String) -> String {
    String(decoding: FileManager.default.contents(atPath: file) ?? Data(), as: UTF8.self)
  }
}
