import Foundation

/// The source files of the lessons, where they were when this module was compiled.
public enum LessonSource {
  /// The folder of this module, in which the lessons are in folders of their own.
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

  /// The lines of a form.
  ///
  /// - Parameter form: "wrong" or "right".
  /// - Returns: nil if the source file is not there.
  public static func code(of form: String, in lesson: any Lesson.Type) -> String? {
    let name = lesson.file.split(separator: "/").last.map(String.init)
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    while let file = files?.nextObject() as? URL {
      guard file.lastPathComponent == name else { continue }
      return (try? String(contentsOf: file, encoding: .utf8)).map { code(of: form, in: $0) }
    }
    return nil
  }

  private static func code(of form: String, in source: String) -> String {
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
    guard let first = lines.firstIndex(where: { $0.hasPrefix("  static func \(form)(") }) else { return "" }
    if lines[first].hasSuffix("}") { return String(lines[first]) }
    let last = lines[first...].firstIndex(of: "  }") ?? first
    return lines[first...last].joined(separator: "\n")
  }
}
