import CLinux
import Files
import Foundation

/// A program of helper processes, and where it is.
package enum HelperProgram: String, Sendable {
  case decoder = "thumbjob-decoder"
  case encoder = "thumbjob-encoder"

  package var name: String { rawValue }

  /// Looks beside the running program, where a build has it, and in the folders of an installation: `libexec/thumbjob` and
  /// `lib/thumbjob`, next to the program's own folder.
  ///
  /// - Throws: ``SandboxError/notFound(_:)`` or ``SandboxError/notExecutable(_:)``.
  package func locate() throws(SandboxError) -> Path {
    try locate(from: ((try? Path("/proc/self/exe").real()) ?? Self.startedProgram).parent)
  }

  /// The program that runs, by the path with which it was started: without /proc, nothing else is known.
  private static var startedProgram: Path {
    #if os(Linux)
    if let path = UnsafePointer<CChar>(bitPattern: getauxval(UInt(AT_EXECFN))) {
      return Path(bytes: Array(UnsafeRawBufferPointer(start: path, count: strlen(path)))) ?? Path()
    }
    #endif
    return Path(CommandLine.arguments.first ?? "")
  }

  /// - Parameter folder: that of the running program.
  package func locate(from folder: Path) throws(SandboxError) -> Path {
    let places = [
      folder.appending(Path(name)), folder.parent.appending(Path("libexec/thumbjob/\(name)")),
      folder.parent.appending(Path("lib/thumbjob/\(name)")),
    ]
    for place in places where place.withCString({ access($0, X_OK) }) == 0 { return place }
    for place in places where place.withCString({ access($0, F_OK) }) == 0 { throw .notExecutable(place) }
    throw .notFound(places)
  }
}
