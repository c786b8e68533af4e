import Fetching
import Files
import Sourcing
import Thumbnails

extension JobSettings {
  /// - Throws: ``TextError`` if settings that are valid by themselves contradict each other.
  package func validate() throws(TextError) {
    if let clash = outputs.lazy.compactMap({ $0.sizes.clash }).first {
      throw TextError(in: "size", "\(clash)")
    }
    if let clash = outputs.lazy.compactMap(\.clashOfPlaces).first { throw TextError(in: "name", "\(clash)") }
    try validateNames()
    for output in outputs { try output.validateFormats() }
    if let file = outputs.lazy.map(\.folder).first(where: { $0.isNamedLikeThumbnail && FileIdentity(of: $0) == nil }) {
      throw TextError(
        in: "out", "\(file.printable) looks like a file, but is to be the folder of the thumbnails; “name” names them")
    }
    if shardChoice != nil, !joins.isEmpty {
      throw TextError(
        in: "shard",
        "a share has only some of the thumbnails; once all shares are done, a run of all sources makes the "
          + "manifest, contact sheet or gallery")
    }
    if joins.contactSheet != nil, !outputs.contains(where: { $0.formats.contains(.jpeg) }) {
      throw TextError(in: "contact-sheet", "a contact sheet shows JPEG thumbnails; add jpeg to “format”")
    }
    try validateBuild()
    try joins.validate()
    try joins.validateStandalone(besides: outputs.map(\.folder))
    try kind.validate()
    if prune != nil, sources.contains(where: { if case .list = $0 { true } else { false } }) {
      throw TextError(in: "prune", "a list does not tell which sources are gone; give the folders instead")
    }
    if prune != nil, sources.contains(where: { if case .address = $0 { true } else { false } }) {
      throw TextError(in: "prune", "a URL does not tell which sources are gone; give folders instead")
    }
    try validateBuckets()
    try watch?.validate(self)
    var folders: Set<Path> = []
    for output in outputs where !folders.insert(output.folder.normalized ?? output.folder).inserted {
      throw TextError(in: "out", "two outputs share the folder \(output.folder.printable); give each its own")
    }
  }
}

extension JobSettings {
  /// - Throws: ``TextError`` if the job needs a part that the program is built without.
  private func validateBuild() throws(TextError) {
    let metadata: KeptMetadata = [.exif, .copyright, .gps]
    try BuildTrait.formats.require("keep", if: outputs.contains { !$0.keep.isDisjoint(with: metadata) })
    try BuildTrait.formats.require("format", if: outputs.contains { $0.formats != [.jpeg] })
    // Its filter of system calls is a part of the fence.
    try BuildTrait.formats.require("isolate", if: isolate == .require)
    try BuildTrait.network.require("out", if: !bucketOutputs.isEmpty)
    try BuildTrait.ledger.require("verify", if: verify == .content)
    try BuildTrait.ledger.require("prune", if: prune != nil)
    // The digest of a URI.
    try BuildTrait.ledger.require("name", if: outputs.contains { $0.name?.hasDigest == true })
    try BuildTrait.ledger.require("manifest-fields", if: joins.manifestFields.contains(.sha256))
    try BuildTrait.ledger.require(if: watch != nil)
  }

  /// - Throws: ``TextError`` if a pattern needs to know more of the photos than the job does.
  private func validateNames() throws(TextError) {
    for output in outputs where output.layout != nil || output.name?.hasDigest == true {
      let key = output.layout == nil ? "name" : "layout"
      if sources.contains(where: { if case .address = $0 { true } else { false } }) {
        throw TextError(in: key, "other programs show files of this machine, and no photos from the network")
      }
      if output.location != nil { throw TextError(in: key, "other programs look in folders, and not in buckets") }
      if output.layout?.isBesidePhotos == true, filter.takesHidden {
        throw TextError(in: "layout", "with “hidden”, thumbnails of other programs would be taken for photos")
      }
    }
    guard outputs.contains(where: { $0.name?.factKinds.areInPhoto == true }) else { return }
    let letters = "%W, %H, %Y, %m, %D and %c"
    // The preset "web" has such a pattern.
    let known = "; '%d/%s-%e-%w', with the width of the size's box, tells sizes apart, too"
    if sources.contains(where: { if case .address = $0 { true } else { false } }) {
      throw TextError(
        in: "name", "\(letters) tell what is in a photo, and one from the network is named before it is fetched\(known)"
      )
    }
    let unknown =
      "with \(letters) in “name”, it is not known where the thumbnails are of photos that are gone or changed\(known)"
    if prune != nil { throw TextError(in: "prune", unknown) }
    if watch != nil { throw TextError(in: "name", "a watch removes thumbnails, and \(unknown)") }
  }

  /// - Throws: ``TextError`` if an output is no place for thumbnails, or a job with thumbnails in a bucket wants what only
  ///   those in folders have.
  private func validateBuckets() throws(TextError) {
    for output in outputs where output.folder.isURL && output.location == nil {
      let shown = RemoteAddress.printable(output.folder.bytes)
      throw TextError(in: "out", "\(shown) is no place for thumbnails; name a folder, or s3://bucket/folder")
    }
    if bucketOutputs.isEmpty { return }
    func refuse(_ key: String, _ isSet: Bool, _ reason: String) throws(TextError) {
      if isSet { throw TextError(in: key, "\(reason), and these thumbnails go to a bucket") }
    }
    try refuse("out", bucketOutputs.count < outputs.count, "outputs in folders need a job of their own")
    try refuse("prune", prune != nil, "only thumbnails in folders can be pruned")
    try refuse("wait", waits, "only runs into folders see each other")
    try refuse("verify", verify == .content, "only the ledger of an output folder knows the hashes of sources")
    for kind in joins.paths.map(\.0) { try refuse(kind.setting, true, "it needs thumbnails in folders") }
    try refuse("out", watch != nil, "a watch needs thumbnails in folders")
  }

  /// Sets the folders of outputs whose thumbnails are beside the photos.
  ///
  /// - Throws: ``TextError`` if they would be beside other photos, whose thumbnails could be replaced; or if “..” in a path
  ///   makes the URIs of the photos unclear.
  package mutating func resolveFolders() throws(TextError) {
    if outputs.contains(where: { $0.name?.factKinds.contains(.uri) == true }) {
      for case .path(let path) in sources where FileIdentity(of: path) != path.absolute.flatMap(FileIdentity.init(of:))
      {
        throw TextError("\(path.printable): other programs would look for it under another path; name it without “..”")
      }
    }
    for index in outputs.indices where outputs[index].layout?.isBesidePhotos == true {
      guard sources.count == 1, case .path(let folder) = sources[0], let photos = FileIdentity(of: folder),
        !FileStatus.isRegular(folder, followingLinks: true)
      else {
        throw TextError(in: "layout", "it puts thumbnails beside the photos: give one folder that exists")
      }
      if let out = outputs[index].givenFolder, FileIdentity(of: out) != photos {
        throw TextError(in: "out", "“layout” puts thumbnails beside the photos; leave “out” out")
      }
      outputs[index].usualFolder = folder
    }
  }

  /// Finds the share of this job, its list if there is a folder of lists, and the trees of lists that a split has written.
  ///
  /// - Parameter environment: the variables of the process.
  /// - Throws: ``TextError``.
  package mutating func resolveLists(in environment: [String: String]) throws(TextError) {
    for (index, source) in sources.enumerated() {
      guard case .list(let list) = source, let file = list.file else { continue }
      let (folder, known): (ListFolder?, SourceList?)
      do throws(ListFolderError) {
        folder = try ListFolder.read(file)
        known = try ListFolder.list(at: file)
      } catch {
        throw TextError(in: "files0-from", "\(error)")
      }
      if let folder {
        let share = try share(in: folder, environment)
        (shard, sources[index]) = (share, .list(folder.list(share.index)))
      } else if let known {
        sources[index] = .list(known)
      }
    }
    if shard == nil { shard = try shardChoice?.resolved(in: environment) }
  }

  private func share(in folder: ListFolder, _ environment: [String: String]) throws(TextError) -> Shard {
    guard let shardChoice else {
      throw TextError(
        in: "files0-from", "\(folder.path.printable) is a folder of lists; name one of them, or set “shard” to auto")
    }
    guard sources.count == 1 else {
      throw TextError(
        in: "files0-from", "with \(folder.path.printable), a folder of lists, there can be no other sources")
    }
    return try shardChoice.resolved(among: folder.parts, in: environment)
  }
}
