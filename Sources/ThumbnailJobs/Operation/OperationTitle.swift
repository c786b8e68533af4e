import Files

/// What operations of a job are called: `thumbnail folder/photo.jpg → 256x256`.
public enum OperationTitle {
  private static let verb = "thumbnail "
  private static let arrow = " → "

  static func text(_ source: Path, _ sizes: String) -> String { verb + source.printable + arrow + sizes }

  /// The path in such a title: `folder/photo.jpg`.
  public static func source(in title: String) -> Substring {
    let end = title.ranges(of: arrow).last?.lowerBound ?? title.endIndex
    return title[..<end].dropFirst(title.hasPrefix(verb) ? verb.count : 0)
  }
}
