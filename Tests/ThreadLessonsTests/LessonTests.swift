import Foundation
import TestSupport
import Testing

@testable import ThreadLessons

/// Every lesson. One fails here if its wrong form is mended, or its right form broken.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LessonTests {
  init() {
    // The build puts the program next to the test bundle.
    let folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
    Helper.program.withLock { $0 = folder.appendingPathComponent("lessons").path }
  }

  /// Where this process is background work itself, such work is not told from other work.
  private static let isNice = PriorityInversion.niceness >= 10

  @Test(arguments: Lessons.all.map { $0.name }.filter { $0 != PriorityInversion.name || !isNice })
  func theWrongFormShowsItsFaultAndTheRightOneNone(name: String) async throws {
    try await check(name, in: Lessons.all)
  }

  @Test(
    .enabled(if: hasThreadSanitizer, "needs a build with the thread sanitizer"),
    arguments: Lessons.sanitized.map { $0.name })
  func theSanitizerNamesTheWrongFormOnly(name: String) async throws { try await check(name, in: Lessons.sanitized) }

  @Test func theCodeOfEachFormIsFound() throws {
    for lesson in Lessons.all + Lessons.sanitized {
      #expect(lesson.file == "ThreadLessons/\(lesson).swift")
      for form in ["wrong", "right"] {
        let code = try #require(LessonSource.code(of: form, in: lesson), "\(lesson.file)")
        #expect(code.hasPrefix("  static func \(form)() -> Outcome {") && code.hasSuffix("}"), "\(code)")
      }
    }
  }

  @Test func namesAreUnique() {
    let all = Lessons.all + Lessons.sanitized
    #expect(Set(all.map { $0.name }).count == all.count)
  }

  /// Whether this build, and so the program beside it, has the thread sanitizer.
  private static let hasThreadSanitizer = dlsym(dlopen(nil, RTLD_NOW), "__tsan_init") != nil

  /// The forms run on a thread of their own, because they block it.
  private func check(_ name: String, in lessons: [any Lesson.Type]) async throws {
    let lesson = try #require(lessons.first { $0.name == name })
    let (wrong, right) = try await onThread { (lesson.wrong(), lesson.right()) }
    #expect(wrong.isFaulty, "\(wrong.figure)")
    #expect(!right.isFaulty, "\(right.figure)")
  }
}
