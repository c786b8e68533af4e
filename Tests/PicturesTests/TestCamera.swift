import TestSupport

/// Writes RAW files as cameras of each maker do: the same directories and tags, with the data far from each other.
struct TestCamera: Sendable {
  /// The pictures that the previews show, and the EXIF orientation in the first directory.
  var orientation = 1
  var full = (width: 1616, height: 1080)
  var medium = (width: 640, height: 428)
  let thumbnail = (width: 160, height: 120)
  let sensor = (width: 1640, height: 1096)
  /// The orientation in the full preview itself; 0 for none.
  var ownOrientation = 0
  /// The bytes between the parts of a file: more than is read at once.
  var gap = 40_000

  static let kinds = ["NEF", "CR2", "ARW", "DNG", "ORF", "RW2", "PEF", "RAF", "RAW"]

  func file(_ kind: String) -> [UInt8] {
    switch kind {
    case "NEF": nef()
    case "CR2": cr2()
    case "ARW": arw()
    case "DNG": dng()
    case "ORF": orf()
    case "RW2": rw2()
    case "PEF": pef()
    case "RAF": raf()
    default: srw()
    }
  }

  static func jpeg(_ size: (width: Int, height: Int), orientation: Int = 0) -> [UInt8] {
    var photo = SyntheticPhoto(seed: 1, width: size.width, height: size.height)
    photo.isBlank = true
    photo.orientation = orientation
    let jpeg = photo.jpeg()
    if size.width < 600 { return jpeg }
    // Large previews have long metadata before the frame header.
    let application: [UInt8] = [0xFF, 0xE4, 0x75, 0x30] + [UInt8](repeating: 0x20, count: 29_998)
    return jpeg.prefix(2) + application + jpeg.dropFirst(2)
  }

  /// Lossless JPEG (SOF3), which is sensor data.
  static let lossless: [UInt8] =
    [0xFF, 0xD8, 0xFF, 0xC3, 0, 14, 14, 4, 72, 6, 104, 2, 0, 0x11, 0, 1, 0x11, 0] + [UInt8](repeating: 0x55, count: 500)

  private var fullJPEG: [UInt8] { Self.jpeg(full, orientation: ownOrientation) }
  private var mediumJPEG: [UInt8] { Self.jpeg(medium) }
  private var thumbnailJPEG: [UInt8] { Self.jpeg(thumbnail) }
  private var sensorData: [UInt8] { [UInt8](repeating: 0x5A, count: 1000) }

  private func camera(_ make: String) -> [(Int, TestTIFF.Value)] {
    [(0x010F, .text(make)), (0x0110, .text("A Camera")), (0x0112, .short(orientation))]
  }

  private func finished(_ tiff: TestTIFF, magic: Int = 42, prefix: [UInt8] = []) -> [UInt8] {
    var tiff = tiff
    (tiff.gap, tiff.magic, tiff.prefix) = (gap, magic, prefix)
    return tiff.file() + [UInt8](repeating: 0, count: gap)
  }

  private func cfa(compression: Int, _ more: [(Int, TestTIFF.Value)] = []) -> TestTIFF.Directory {
    .page(
      sensor.width, sensor.height, subfile: 0, photometric: 32803, samples: 1, bits: 14, compression: compression,
      strip: sensorData, more)
  }

  /// A small picture as it is, in IFD 0, and the rest in directories inside it.
  private func nef() -> [UInt8] {
    let rgb = [UInt8](repeating: 90, count: 160 * 120 * 3)
    let inner: [TestTIFF.Directory] = [.jpeg(fullJPEG, [(0x00FE, .long(1))]), cfa(compression: 34713)]
    let notes = TestTIFF.Value.written { _ in Self.nikonNotes(mediumJPEG, gap: gap) }
    let first = TestTIFF.Directory.page(
      160, 120, subfile: 1, strip: rgb,
      camera("NIKON CORPORATION") + [
        (0x014A, .directories(inner)), (0x8769, .directories([TestTIFF.Directory([(0x927C, notes)])])),
      ])
    return finished(TestTIFF([first], isBigEndian: true))
  }

  /// Notes that have a TIFF header of their own, with a preview in a directory inside them.
  static func nikonNotes(_ jpeg: [UInt8], gap: Int) -> [UInt8] {
    let tiff = TestTIFF([], isBigEndian: true)
    let entry = { (tag: Int, value: Int) in
      tiff.number(tag, 2) + tiff.number(4, 2) + tiff.number(1, 4) + tiff.number(value, 4)
    }
    let header = Array("Nikon\0".utf8) + [2, 0x10, 0, 0] + Array("MM".utf8) + [0, 42, 0, 0, 0, 8]
    let notes = tiff.number(1, 2) + entry(0x11, 26) + tiff.number(0, 4)
    let preview = tiff.number(2, 2) + entry(0x201, 56 + gap) + entry(0x202, jpeg.count) + tiff.number(0, 4)
    return header + notes + preview + [UInt8](repeating: 0, count: gap) + jpeg
  }

  private func cr2() -> [UInt8] {
    let chain: [TestTIFF.Directory] = [
      .page(full.width, full.height, photometric: nil, compression: 6, strip: fullJPEG, camera("Canon")),
      .jpeg(thumbnailJPEG),
      .page(343, 229, photometric: 2, bits: 16, strip: [UInt8](repeating: 3, count: 343 * 229 * 6)),
      TestTIFF.Directory([
        (0x0103, .short(6)), (0x0111, .data(Self.lossless)), (0x0117, .long(Self.lossless.count)),
        (0xC640, .numbers(type: 3, [2, 800, 840])),
      ]),
    ]
    return finished(TestTIFF(chain), prefix: Array("CR".utf8) + [2, 0, 0, 0, 0, 0])
  }

  private func arw() -> [UInt8] {
    let first = TestTIFF.Directory.jpeg(
      fullJPEG,
      [(0x00FE, .long(1))] + camera("SONY") + [
        (0x014A, .directories([cfa(compression: 32767)])), (0xC634, .data([1, 2, 3, 4])),
      ])
    return finished(TestTIFF([first, .jpeg(thumbnailJPEG, [(0x00FE, .long(1))])]))
  }

  private func dng() -> [UInt8] {
    let inner: [TestTIFF.Directory] = [
      .page(
        sensor.width, sensor.height, subfile: 0, photometric: 32803, samples: 1, bits: 16, compression: 7,
        strip: Self.lossless),
      .page(medium.width, medium.height, subfile: 1, photometric: 6, compression: 7, strip: mediumJPEG),
      .page(full.width, full.height, subfile: 1, photometric: 6, compression: 7, strip: fullJPEG),
    ]
    let first = TestTIFF.Directory.page(
      256, 171, subfile: 1, strip: [UInt8](repeating: 90, count: 256 * 171 * 3),
      camera("Some Phone") + [(0x014A, .directories(inner)), (0xC612, .numbers(type: 1, [1, 4, 0, 0]))])
    return finished(TestTIFF([first]))
  }

  /// The preview is named in the camera settings inside the maker's notes, whose offsets count from their beginning.
  private func orf() -> [UInt8] {
    let jpeg = fullJPEG
    let preview = TestTIFF.Value.written { start in
      let tiff = TestTIFF([])
      let entry = { (tag: Int, type: Int, value: Int) in
        tiff.number(tag, 2) + tiff.number(type, 2) + tiff.number(1, 4) + tiff.number(value, 4)
      }
      var notes = Array("OLYMPUS\0II".utf8) + [3, 0]
      notes += tiff.number(1, 2) + entry(0x2020, 13, 30) + tiff.number(0, 4)
      notes += tiff.number(3, 2) + entry(0x0100, 4, 1) + entry(0x0101, 4, 30 + 42 + gap) + entry(0x0102, 4, jpeg.count)
      notes += tiff.number(0, 4)
      precondition(notes.count == 72)
      return notes + [UInt8](repeating: 0, count: gap) + jpeg
    }
    let first = TestTIFF.Directory.page(
      sensor.width, sensor.height, photometric: 1, samples: 1, bits: 16, strip: sensorData,
      camera("OLYMPUS IMAGING CORP.") + [(0x8769, .directories([TestTIFF.Directory([(0x927C, preview)])]))])
    return finished(TestTIFF([first]), magic: 0x4F52)
  }

  private func rw2() -> [UInt8] {
    let first = TestTIFF.Directory(
      [(0x0001, .bytes(Array("0310".utf8))), (0x0002, .short(sensor.width)), (0x0003, .short(sensor.height))]
        + camera("Panasonic") + [(0x0118, .data(sensorData)), (0x002E, .bytes(fullJPEG))])
    return finished(TestTIFF([first]), magic: 0x55, prefix: [UInt8](repeating: 0, count: 16))
  }

  private func pef() -> [UInt8] {
    let chain = [
      cfa(compression: 65535, camera("PENTAX Corporation ")), .jpeg(thumbnailJPEG), .jpeg(fullJPEG),
    ]
    return finished(TestTIFF(chain, isBigEndian: true))
  }

  /// Samsung's: directories inside the second directory of the chain.
  private func srw() -> [UInt8] {
    let chain = [
      TestTIFF.Directory.jpeg(thumbnailJPEG, camera("SAMSUNG")),
      TestTIFF.Directory([(0x014A, .directories([.jpeg(fullJPEG), cfa(compression: 32770)]))]),
    ]
    return finished(TestTIFF(chain))
  }

  private func raf() -> [UInt8] {
    let (tiff, jpeg) = (TestTIFF([], isBigEndian: true), fullJPEG)
    var file = Array("FUJIFILMCCD-RAW 0201FF129506".utf8)
    file += Array("A Camera".utf8)
    file += [UInt8](repeating: 0, count: 84 - file.count)
    file += tiff.number(148 + gap, 4) + tiff.number(jpeg.count, 4) + tiff.number(148 + gap + jpeg.count, 4)
    file += [UInt8](repeating: 0, count: 148 + gap - file.count) + jpeg
    return file + [UInt8](repeating: 0x5A, count: gap)
  }
}
