import Files
import Testing

@testable import FolderWatching

@Suite(.timeLimit(.minutes(1)))
struct WatchedFoldersTests {
  private func paths(below folder: Path, in watched: WatchedFolders) -> Set<Path> { Set(watched.paths(below: folder)) }

  @Test func thePathsBelowAFolderAreFoundAlsoWhereOnesBetweenHaveNoWatch() {
    var watched = WatchedFolders()
    for (number, path) in (["/p", "/p/a", "/p/a/b", "/p/ab", "/p/x/y/z", "relative/a"] as [Path]).enumerated() {
      watched.insert(path, CInt(number))
    }
    #expect(paths(below: "/p/a", in: watched) == ["/p/a", "/p/a/b"])
    #expect(paths(below: "/p/x", in: watched) == ["/p/x/y/z"])
    #expect(paths(below: "/", in: watched).count == 5 && paths(below: "relative", in: watched) == ["relative/a"])
    #expect(watched.remove("/p/a") == 1 && watched["/p/a"] == nil)
    #expect(paths(below: "/p/a", in: watched) == ["/p/a/b"])
    watched.remove(number: 4)
    #expect(paths(below: "/p/x", in: watched).isEmpty && paths(below: "/p", in: watched).count == 3)
    #expect(watched.count == 4)
  }

  @Test func aWatchOfSeveralPathsEndsWithItsLast() {
    var watched = WatchedFolders()
    watched.insert("/p/a", 7)
    watched.insert("/q/link", 7)
    #expect(watched.count == 1 && Set(watched.paths(of: 7)) == ["/p/a", "/q/link"])
    #expect(watched.remove("/p/a") == nil && watched.remove("/p/none") == nil)
    #expect(watched.remove("/q/link") == 7 && watched.count == 0)
    watched.insert("/p/a", 8)
    watched.insert("/q/link", 8)
    watched.remove(number: 8)
    #expect(watched.count == 0 && watched["/p/a"] == nil && watched.paths(below: "/").isEmpty)
  }

  /// If each removal looked at all watches, this would exceed the time limit several times over.
  @Test func oneFolderAmongVeryManyIsRemovedAtOnce() {
    var watched = WatchedFolders()
    let paths = (0..<60_000).map { Path("/photos/\($0 / 100)/\($0)") }
    for (number, path) in paths.enumerated() { watched.insert(path, CInt(number)) }
    for (number, path) in paths.enumerated() {
      #expect(watched.paths(below: path) == [path])
      #expect(watched.remove(path) == CInt(number))
    }
    #expect(watched.count == 0 && watched.paths(below: "/").isEmpty)
  }
}
