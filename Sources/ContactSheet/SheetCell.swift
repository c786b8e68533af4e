import Files

/// A place on a page of a contact sheet: a thumbnail, or the reason why there is none, and the name below it.
package struct SheetCell: Sendable {
  package enum Picture: Sendable {
    /// A JPEG file. The writer calls `open` when it has come to the cell, and closes the descriptor before it calls the
    /// next cell's, so that a page holds one file open at a time. If the file cannot be opened, read or shown, the
    /// place is marked as missing.
    case jpeg(open: @Sendable () throws(Errno) -> CInt)
    /// No picture, and a few words that say why.
    case missing(reason: String)
  }

  /// The name of the file. Copying from the sheet gives this text, even where the page shows less of it, unless
  /// a part of it runs from right to left.
  package var caption: String
  package var picture: Picture

  package init(caption: String, picture: Picture) { (self.caption, self.picture) = (caption, picture) }
}

/// A JPEG file that a page could not show.
package struct UnusablePicture: Sendable, Hashable, CustomStringConvertible {
  /// The index of the cell on its page.
  package let cell: Int
  package let caption: String
  /// The words in the marked place.
  package let reason: String

  package var description: String { "\(caption): \(reason)" }
}
