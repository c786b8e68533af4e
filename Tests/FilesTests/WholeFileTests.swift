import Files
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct WholeFileTests {
  private let place = TemporaryFolder()
  private let folder: Descriptor
  private let work: Descriptor

  init() throws {
    folder = Descriptor(try openFolder(Path(place.path), in: AT_FDCWD))
    try makeFolder("work", in: folder.number)
    work = Descriptor(try openFolder("work", in: folder.number))
  }

  private func names(below name: String = ".") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: place(name)).sorted()
  }

  private func put(_ text: String, named name: Path = "file") throws -> Bool {
    let file = try WholeFile(name, in: folder.number, temporary: "half", in: work.number)
    try writeAll(text.utf8, to: file.contents.number)
    return try file.put()
  }

  @Test func theTemporaryNameIsInTheWorkFolderOnly() throws {
    // Here the name is taken, so that it could not be used.
    try place.write([1], to: "half/photo.jpg")
    #expect(try put("first"))
    let before = FileIdentity(of: Path(place("file")))
    #expect(try put("second"))
    #expect(try place.bytes("file") == Data("second".utf8) && names() == ["file", "half", "work"])
    #expect(try FileIdentity(of: Path(place("file"))) != before && names(below: "work") == [])
  }

  @Test func anEqualFileStays() throws {
    #expect(try put("text"))
    let first = FileIdentity(of: Path(place("file")))
    #expect(try !put("text") && FileIdentity(of: Path(place("file"))) == first)
  }

  @Test func whereAFolderIsNothingIsLeft() throws {
    try place.write([1], to: "file/photo.jpg")
    #expect(throws: Errno.self) { _ = try put("text") }
    #expect(try names() == ["file", "work"] && names(below: "work") == [] && names(below: "file") == ["photo.jpg"])
  }
}
