import ArgumentParser
import Foundation
import TestSupport

/// The program `make-images`.
@main
struct MakeImages: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "make-images", abstract: "Makes a folder of JPEG files to try thumbjob on.",
    discussion: "Does nothing if the folder exists.")

  @Flag(help: "Make four photos among files of every kind that cannot be read.") var broken = false
  @Argument(help: "The folder to make.") var folder: String

  func run() throws {
    let target = URL(fileURLWithPath: folder)
    guard !FileManager.default.fileExists(atPath: target.path) else { return }
    // The files are written to another folder, which is renamed in the end, so that a folder of this name is always
    // complete.
    let part = target.appendingPathExtension("part")
    try? FileManager.default.removeItem(at: part)
    try (broken ? Self.makeBroken : Self.makePhotos)(part)
    try FileManager.default.moveItem(at: part, to: target)
  }

  /// 36 photos that vary in size, shape, orientation, colour and coding.
  private static func makePhotos(_ folder: URL) throws {
    let shapes = [(3000, 2000), (4032, 3024), (1600, 1067), (1080, 1920), (2400, 1350), (640, 480)]
    for number in 0..<36 {
      let (width, height) = shapes[number % shapes.count]
      var photo = SyntheticPhoto(seed: number, width: width + number, height: height)
      photo.isProgressive = number % 3 == 1
      photo.isGrey = number % 9 == 4
      photo.hasFullChroma = number % 5 == 2
      photo.quality = 75 + number % 20
      photo.orientation = number % 4 == 3 ? 1 + number / 4 % 8 : 0
      let place = number == 0 ? "" : ["2024/coast/", "2025/hills/", "2025/phone/"][number % 3]
      let name = "\(place)photo-\(number < 9 ? "0" : "")\(number + 1).jpg"
      try write(photo.jpeg(), to: folder.appendingPathComponent(name))
    }
    try write(Array("Synthetic photos.\n".utf8), to: folder.appendingPathComponent("notes.txt"))
  }

  /// Four photos, among files that are damaged or no photos, a folder, a FIFO and a link to its own folder.
  private static func makeBroken(_ folder: URL) throws {
    for number in 0..<4 {
      let good = SyntheticPhoto(seed: 100 + number, width: 800, height: 600).jpeg()
      try write(good, to: folder.appendingPathComponent("good-\(number).jpg"))
      if number == 0 { try write(Array(good.prefix(good.count / 2)), to: folder.appendingPathComponent("cut-off.jpg")) }
      if number == 1 {
        var scribbled = good
        for index in stride(from: good.count / 3, to: good.count / 2, by: 7) { scribbled[index] = 0x5A }
        try write(scribbled, to: folder.appendingPathComponent("scribbled.jpg"))
      }
    }
    var generator = SystemRandomNumberGenerator()
    let noise = (0..<20_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
    try write([0xFF, 0xD8, 0xFF, 0xE0] + noise, to: folder.appendingPathComponent("noise.jpg"))
    try write([], to: folder.appendingPathComponent("empty.jpg"))
    try write(Array("not a picture\n".utf8), to: folder.appendingPathComponent("text.jpg"))
    let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]
    try write(png, to: folder.appendingPathComponent("really-a.png"))
    try write(
      SyntheticPhoto(seed: 9, width: 320, height: 240).jpeg(), to: folder.appendingPathComponent("really-a-jpeg.png"))
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent("folder.jpg"), withIntermediateDirectories: true)
    mkfifo(folder.appendingPathComponent("pipe.jpg").path, 0o600)
    symlink(".", folder.appendingPathComponent("loop").path)
  }

  private static func write(_ bytes: [UInt8], to file: URL) throws {
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: file)
  }
}
