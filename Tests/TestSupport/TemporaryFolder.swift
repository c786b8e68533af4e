import Foundation

/// A folder for one test; removed with the object.
public final class TemporaryFolder: Sendable {
  public let path: String

  /// - Parameter parent: the folder to make it in.
  public init(in parent: String = NSTemporaryDirectory()) {
    var template = Array("\(parent)/thumbjob-test-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else {
      preconditionFailure("no temporary folder: \(String(cString: strerror(errno)))")
    }
    path = String(cString: made)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of an entry.
  public func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes a file atomically, and creates the folders above it.
  public func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
    let file = URL(fileURLWithPath: self(name))
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: file, options: .atomic)
  }

  public func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: self(name)) }

  /// The files below a folder as sorted paths relative to it, without those in `.thumbjob`, where the output folder
  /// keeps its notes.
  public func files(below name: String) -> [String] {
    let found = FileManager.default.subpaths(atPath: self(name)) ?? []
    return found.filter { path in
      var isFolder: ObjCBool = false
      return !path.split(separator: "/").contains(".thumbjob")
        && FileManager.default.fileExists(
          atPath: self("\(name)/\(path)"), isDirectory: &isFolder)
        && !isFolder.boolValue
    }.sorted()
  }

  public func bytes(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: self(name))) }
}
