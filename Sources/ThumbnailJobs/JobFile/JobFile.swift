import Files
import SystemPackage
import Yams

/// A job written down: `thumbjob jobs/gallery.yml`. The same words as the options, read into a `JobOverlay`.
public enum JobFile {
  /// True when a path is that of a job file by its name.
  public static func isName(_ path: Path) -> Bool {
    let name = String(decoding: path.lastName.bytes, as: UTF8.self).lowercased()
    return name.hasSuffix(".yml") || name.hasSuffix(".yaml")
  }

  /// Reads a job file. Relative paths in it start from the folder it is in.
  ///
  /// - Parameter statusProblem: why a text is no status address, or nil where it is one: a job has nothing to do with
  ///   addresses.
  /// - Throws: all that is wrong with it, not only the first.
  public static func read(
    _ file: Path, statusProblem: @escaping (String) -> String? = { _ in nil }
  ) throws(JobFileProblems) -> JobOverlay {
    try overlay(of: JobFileText(reading: file), file: file, statusProblem: statusProblem)
  }

  static func overlay(
    of text: JobFileText, file: Path, statusProblem: @escaping (String) -> String? = { _ in nil }
  ) throws(JobFileProblems) -> JobOverlay {
    let root: Node?
    do {
      // The encoding is given because Yams else looks for it in the environment and prints what it finds.
      root = try Parser(yaml: text.text, resolver: .basic, encoding: .utf8).singleRoot()
    } catch {
      let problem = (error as? YamlError).map { Self.problem($0, text: text.text, file: file) }
      throw JobFileProblems(
        problems: [problem ?? JobFileProblem(file: file, line: 0, column: 0, message: "cannot be read: \(error)")])
    }
    var reader = JobFileReader(file: file, statusProblem: statusProblem)
    let overlay = reader.read(root)
    if !reader.problems.isEmpty {
      throw JobFileProblems(problems: reader.problems.sorted { ($0.line, $0.column) < ($1.line, $1.column) })
    }
    return overlay
  }

  private static func problem(_ error: YamlError, text: String, file: Path) -> JobFileProblem {
    func at(_ mark: Mark?, _ message: String) -> JobFileProblem {
      JobFileProblem(file: file, line: mark?.line ?? 0, column: mark?.column ?? 0, message: message)
    }
    switch error {
    case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
      .composer(let context, let problem, let mark, _):
      if problem.contains("another document") {
        return at(mark, "a second document; a job file is one")
      }
      let start = context?.mark ?? mark
      if problem.contains("alias") || context?.text.contains("alias") == true {
        return at(start, "a value that starts with * stands in quotes: \"*.jpg\"")
      }
      return at(mark, "not YAML: \(problem)")
    case .reader(let problem, _, _, _): return at(nil, "not YAML: \(problem)")
    case .duplicatedKeysInMapping(let keys, let context):
      let names = keys.map { "“\(printableText(of: Array($0.utf8)))”" }.joined(separator: ", ")
      return at(context.mark, "\(names) is given more than once; here is the first")
    default: return at(nil, "not YAML: \(error)")
    }
  }
}
