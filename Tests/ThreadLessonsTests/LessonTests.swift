import Foundation
import Testing

@testable import ThreadLessons

/// Every lesson. One fails here if its wrong form is mended, or its right form broken.
@Suite(.serialized) struct LessonTests {
  init() {
    // The build puts the program next to the test bundle.
    let folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
    Helper.program.withLock { $0 = folder.appendingPathComponent("lessons").path }
  }

  @Test(arguments: Lessons.all.map { $0.name })
  func theWrongFormShowsItsFaultAndTheRightOneNone(name: String) throws {
    try check(name, in: Lessons.all)
  }

  @Test(
    .enabled(if: hasThreadSanitizer, "needs a build with the thread sanitizer"),
    arguments: Lessons.sanitized.map { $0.name })
  func theSanitizerNamesTheWrongFormOnly(name: String) throws { try check(name, in: Lessons.sanitized) }

  @Test func namesAreUnique() {
    let all = Lessons.all + Lessons.sanitized
    #expect(Set(all.map { $0.name }).count == all.count)
  }

  /// Whether this build, and so the program beside it, has the thread sanitizer.
  private static let hasThreadSanitizer = dlsym(dlopen(nil, RTLD_NOW), "__tsan_init") != nil

  private func check(_ name: String, in lessons: [any Lesson.Type]) throws {
    let lesson = try #require(lessons.first { $0.name == name })
    let (wrong, right) = (lesson.wrong(), lesson.right())
    #expect(wrong.isFaulty, "\(wrong.figure)")
    #expect(!right.isFaulty, "\(right.figure)")
  }
}
