import ThreadLessons

/// A lesson, and what its forms have done.
struct LessonRun {
  let lesson: any Lesson.Type
  let wrong: Outcome
  let right: Outcome

  init(_ lesson: any Lesson.Type) { (self.lesson, wrong, right) = (lesson, lesson.wrong(), lesson.right()) }

  /// Whether the wrong form shows its fault, and the right one none.
  var isAsSaid: Bool { wrong.isFaulty && !right.isFaulty }
}

/// One table of all lessons, in Markdown.
enum LessonTable {
  static let head = """
    | lesson | the wrong form | the right form | |
    | --- | --- | --- | --- |
    """

  static func row(_ run: LessonRun) -> String {
    "| \(run.lesson.name) | \(run.wrong.figure) | \(run.right.figure) | \(run.isAsSaid ? "" : "not as said") |"
  }
}

/// One lesson with the code of both forms.
enum LessonPage {
  static func text(_ run: LessonRun) -> String {
    """
    \(run.lesson.name)

    \(run.lesson.claim)
    Today: \(run.lesson.today)

    wrong: \(run.wrong.figure)
    \(code(of: "wrong", in: run.lesson.file))

    right: \(run.right.figure)
    \(code(of: "right", in: run.lesson.file))

    """
  }

  /// The lines of a form, from its source file.
  private static func code(of form: String, in file: String) -> String {
    guard let source = try? String(contentsOfFile: file, encoding: .utf8) else { return "  (\(file) is not there)" }
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
    guard let first = lines.firstIndex(where: { $0.hasPrefix("  static func \(form)(") }) else { return "" }
    if lines[first].hasSuffix("}") { return String(lines[first]) }
    let last = lines[first...].firstIndex(of: "  }") ?? first
    return lines[first...last].joined(separator: "\n")
  }
}
