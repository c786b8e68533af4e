import ArgumentParser
import Foundation
import ThreadLessons

/// The program of the lessons: a table of all, or one of them with the code of both forms.
@main
struct LessonsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lessons",
    abstract: "Shows what goes wrong with threads, and how it is done right: docs/thread-safety.md.",
    usage: "lessons [<name> ...]",
    discussion: """
      Without a name it runs all lessons and prints a table. With names it runs these, and prints the code of their wrong \
      and right forms. The exit status is 1 if a wrong form shows no fault, or a right form shows one.
      """)

  @Argument(help: "The lessons to run.")
  var names: [String] = []

  @Option(help: "This program, built with the thread sanitizer. It runs the lessons that need that, too.")
  var sanitized: String?

  @Option(name: .customLong("act"), help: .hidden)
  var act: Act?

  func validate() throws {
    let known = (Lessons.all + (sanitized == nil ? [] : Lessons.sanitized)).map { $0.name }
    for name in names where !known.contains(name) {
      throw ValidationError("there is no lesson “\(name)”; there are \(known.joined(separator: ", "))")
    }
  }

  func run() throws {
    if let act { return act.perform() }
    if names.isEmpty { print(LessonTable.head) }
    var areAllAsSaid = show(Lessons.all)
    if let sanitized {
      Helper.program.withLock { $0 = sanitized }
      areAllAsSaid = show(Lessons.sanitized) && areAllAsSaid
    }
    if !areAllAsSaid { throw ExitCode.failure }
  }

  /// Runs the chosen ones of these lessons.
  ///
  /// - Returns: whether each form has done what it should.
  private func show(_ lessons: [any Lesson.Type]) -> Bool {
    let runs = lessons.filter { names.isEmpty || names.contains($0.name) }.map { lesson in
      let run = LessonRun(lesson)
      print(names.isEmpty ? LessonTable.row(run) : LessonPage.text(run))
      return run
    }
    return runs.allSatisfy { $0.isAsSaid }
  }
}

extension Act: ExpressibleByArgument {}
