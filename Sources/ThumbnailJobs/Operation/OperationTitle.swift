import Files

/// The titles of a job's operations, such as `thumbnail folder/photo.jpg → 256x256`.
public enum OperationTitle {
  private static let verb = "thumbnail "
  private static let describing = "describe "
  private static let verifying = "verify "
  private static let fetching = "fetch "
  private static let arrow = " → "

  static func text(_ source: Path, _ sizes: String) -> String { verb + source.printable + arrow + sizes }

  static func describing(_ source: Path) -> String { describing + source.printable }

  static func fetching(_ source: Path) -> String { fetching + source.printable }

  static func verifying(_ source: Path) -> String { verifying + source.printable }

  /// The path of the source in a title, such as `folder/photo.jpg`, in its printable form; nil for the title of another
  /// kind of operation, such as `contact sheet sheet.pdf, page 3`.
  public static func source(in title: String) -> Substring? {
    for verb in [describing, verifying, fetching] where title.hasPrefix(verb) { return title.dropFirst(verb.count) }
    guard title.hasPrefix(verb) else { return nil }
    let end = title.ranges(of: arrow).last?.lowerBound ?? title.endIndex
    return title[..<end].dropFirst(verb.count)
  }
}
