import Fetching
import Files

// Buckets: a part of a bucket is listed page by page, as a folder is read.
extension Walk {
  /// Visits the object of a location, and all objects below it, page by page.
  func walkBucket(_ location: StoreLocation, _ index: Int) throws {
    if isInOutput(location.asFolder) { return passOver(RemoteAddress.store(location).path) }
    // An empty bucket is there, an empty folder is not.
    var isMissing = !location.key.isEmpty
    if isWalked(location.asFolder) { return }
    if !location.isFolder {
      // Among all keys that begin with the location's key, that key itself comes first.
      let page: ObjectPage
      switch try list(location, page: nil, most: 1) {
      case .success(let found): page = found
      case .failure(.refused(status: 403, code: "AccessDenied")):
        // A user who may not list a bucket may still be allowed to read an object in it.
        return try visitFile(Source(.store(location), in: walker.tree, argument: index, origin: .argument))
      case .failure(let error):
        return report(WalkError(.notListed(error), RemoteAddress.store(location).path, argument: index))
      }
      if let object = page.objects.first, object.location == location {
        isMissing = false
        // It may be in a folder that is walked, too.
        if visitedObjects.insert(location).inserted { try visitFile(source(object, index, .argument)) }
      }
    }
    let folder = location.asFolder
    defer { walkedFolders.append(folder) }
    var course = ListingCourse()
    repeat {
      let page: ObjectPage
      switch try list(folder, page: course.next, most: 1000) {
      case .success(let found): page = found
      case .failure(let error):
        return report(WalkError(.notListed(error), RemoteAddress.store(folder).path, argument: index))
      }
      if let obstacle = course.obstacle(in: page) {
        return report(WalkError(.notListed(obstacle), RemoteAddress.store(folder).path, argument: index))
      }
      if page.unusable > 0 {
        let reason = "\(Units.count(page.unusable, "object")) left out: a key is empty, has a NUL, or is too long"
        report(WalkError(.badEntry, RemoteAddress.store(folder).path, argument: index, reason: reason))
      }
      for object in page.objects {
        try checkStop()
        isMissing = false
        try visit(object, below: folder, index)
      }
    } while course.next != nil
    if isMissing { report(WalkError(.missingArgument, RemoteAddress.store(location).path, argument: index)) }
  }

  private func list(_ prefix: StoreLocation, page: String?, most: Int) throws -> Result<ObjectPage, FetchError> {
    try checkStop()
    guard let lister = walker.lister else { preconditionFailure("a walk over files comes to no bucket") }
    do throws(FetchError) {
      return .success(try lister.list(prefix, page: page, most: most, isCancelled: shouldStop))
    } catch {
      // A walk that is to end lists no further.
      if error == .cancelled { throw StopError() }
      return .failure(error)
    }
  }

  private func visit(_ object: ListedObject, below folder: StoreLocation, _ index: Int) throws {
    // Such objects stand for folders.
    if object.location.isFolder || isInOutput(object.location) || isWalked(object.location) { return }
    if visitedObjects.contains(object.location) { return }
    let relative = object.location.mirrored(below: folder.key.count)
    if relative.names.contains(where: { walker.filter.hides($0) }) {
      counters.hidden += 1
      return
    }
    counters.entries += 1
    // Both are tried, so that all patterns that match are known.
    let areEntered = walker.filter.entersFolders(downTo: relative.parent, noting: &counters.matches)
    guard walker.filter.accepts(file: relative, noting: &counters.matches), areEntered else {
      counters.filtered += 1
      return
    }
    try visitFile(source(object, index, .folder))
  }

  private func source(_ object: ListedObject, _ index: Int, _ origin: Source.Origin) -> Source {
    var source = Source(.store(object.location), in: walker.tree, argument: index, origin: origin)
    source.listed = object.validators
    return source
  }

  /// Whether thumbnails go to this place. No object there is a source.
  func isInOutput(_ location: StoreLocation) -> Bool { walker.bucketOutputs.contains { $0.contains(location) } }

  private func isWalked(_ location: StoreLocation) -> Bool { walkedFolders.contains { $0.contains(location) } }
}
