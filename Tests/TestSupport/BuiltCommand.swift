import Foundation
import Subprocess

#if canImport(System)
  import System
#else
  import SystemPackage
#endif

/// The built binary, run as a user runs it.
public struct BuiltCommand: Sendable {
  /// How a run ended, and what it said.
  public struct Ending: Sendable {
    /// The exit status; 128 and the number for a signal that killed it.
    public let status: Int
    public let output: String
    public let errors: String
  }

  /// A run under way.
  public struct Run: Sendable {
    public let processID: pid_t
    fileprivate let errorFile: String
    fileprivate let outputFile: String

    public func send(_ signal: CInt) { kill(processID, signal) }

    /// What it has said so far.
    public var errors: String { BuiltCommand.text(errorFile) }
    public var output: String { BuiltCommand.text(outputFile) }

    /// Whether the process holds back a signal.
    public func holdsBack(_ signal: CInt) -> Bool { mask("SigBlk", has: signal) }

    /// Whether a signal was sent that the process has not taken yet.
    public func hasPending(_ signal: CInt) -> Bool { mask("ShdPnd", has: signal) }

    /// One of the signal masks in the kernel's own words: proc(5), status.
    private func mask(_ name: String, has signal: CInt) -> Bool {
      let status = BuiltCommand.text("/proc/\(processID)/status")
      guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("\(name):") }),
        let mask = UInt64(line.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces), radix: 16)
      else { return false }
      return mask >> UInt64(signal - 1) & 1 == 1
    }
  }

  /// Where the build put it: beside the running test bundle.
  public static let path = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("thumbjob").path

  public static func run(
    _ arguments: String..., in folder: TemporaryFolder, environment: [String: String] = [:],
    during body: @escaping @Sendable (Run) async throws -> Void = { _ in }
  ) async throws -> Ending {
    try await run(executable: path, arguments, in: folder, environment: environment, during: body)
  }

  /// Runs any program; its output goes to files, so that it never waits for the test. Where nothing else is said, it keeps
  /// its sockets in the working folder: tests that ask which jobs run see none of another test.
  public static func run(
    executable: String, _ arguments: [String], in folder: TemporaryFolder, environment: [String: String] = [:],
    during body: @escaping @Sendable (Run) async throws -> Void = { _ in }
  ) async throws -> Ending {
    let (outputFile, errorFile) = (folder(".stdout-\(UUID())"), folder(".stderr-\(UUID())"))
    let output = try FileDescriptor.open(
      outputFile, .writeOnly, options: [.create, .append], permissions: .ownerReadWrite)
    let errors = try FileDescriptor.open(
      errorFile, .writeOnly, options: [.create, .append], permissions: .ownerReadWrite)
    let variables = Dictionary(
      uniqueKeysWithValues: environment.merging(["XDG_RUNTIME_DIR": folder.path]) { said, _ in said }
        .map { (Environment.Key(stringLiteral: $0.key), Optional($0.value)) })
    let result = try await Subprocess.run(
      .path(FilePath(executable)), arguments: Arguments(arguments), environment: .inherit.updating(variables),
      workingDirectory: FilePath(folder.path), input: .none,
      output: .fileDescriptor(output, closeAfterSpawningProcess: true),
      error: .fileDescriptor(errors, closeAfterSpawningProcess: true)
    ) { execution in
      try await body(
        Run(
          processID: pid_t(execution.processIdentifier.value), errorFile: errorFile, outputFile: outputFile))
    }
    let status =
      switch result.terminationStatus {
      case .exited(let code): Int(code)
      case .signaled(let code): 128 + Int(code)
      }
    return Ending(status: status, output: text(outputFile), errors: withoutShellsWarnings(text(errorFile)))
  }

  /// A shell that starts the command complains where the environment names a locale that is not installed.
  private static func withoutShellsWarnings(_ errors: String) -> String {
    errors.split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.contains("bash: warning: setlocale: ") }.joined(separator: "\n")
  }

  private static func text(_ file: String) -> String {
    String(decoding: FileManager.default.contents(atPath: file) ?? Data(), as: UTF8.self)
  }
}
