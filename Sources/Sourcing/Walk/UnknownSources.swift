import Files

/// Finds the photos that no ledger has.
package enum UnknownSources {
  /// Walks sources as a run does, and passes each photo that is not known to `visit`.
  ///
  /// - Parameters:
  ///   - outputs: the output folders, in which no file is a source.
  ///   - isKnown: receives the absolute path of every file.
  ///   - visit: receives the path of a photo as the walk has found it.
  package static func find(
    _ sources: [SourceArgument], outputs: [Path], isKnown: (Path) -> Bool, onError: (WalkError) -> Void,
    visit: (Path) throws -> Void
  ) rethrows {
    try SourceWalker(arguments: sources, outputs: outputs).walk(
      onError: onError,
      visit: { source in
        guard let path = source.path.absolute, !isKnown(path), SourceFile.isPicture(source.path) else { return .goOn }
        try visit(source.path)
        return .goOn
      })
  }
}
