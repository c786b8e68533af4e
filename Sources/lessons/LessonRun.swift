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
    \(code(of: "wrong", in: run.lesson))

    right: \(run.right.figure)
    \(code(of: "right", in: run.lesson))

    """
  }

  private static func code(of form: String, in lesson: any Lesson.Type) -> String {
    LessonSource.code(of: form, in: lesson) ?? "  (\(lesson.file) is not there)"
  }
}
