/// Completes a contact sheet, once all its pages are done.
final class SheetOperation: JoinOperation, @unchecked Sendable {  // constant
  private let pages: SheetPages

  init(_ pages: SheetPages) {
    self.pages = pages
    super.init(.contactSheet, pages.path)
  }

  override func makeJoin() throws -> (count: Int, isChanged: Bool) { try pages.finish() }
}
