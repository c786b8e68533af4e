import TestSupport

/// Writes files with tracks of one sample each.
enum TestMovie {
  struct Track {
    var handler = "vide"
    var codec: String
    var width: Int
    var height: Int
    /// The boxes of the sample entry.
    var boxes: [UInt8] = []
    var sample: [UInt8]
    var id: Int?
    /// The number of the track whose alpha, for example, this one is.
    var auxiliaryOf: Int?
  }

  /// - parameters:
  ///   - before: boxes of the file that precede `moov`.
  ///   - inside: boxes of `moov` that precede the tracks.
  ///   - after: boxes of the file between `moov` and `mdat`.
  static func file(
    tracks: [Track], before: [UInt8], inside: [UInt8] = [], after: [UInt8] = []
  ) -> [UInt8] {
    func movie(dataAt start: Int) -> [UInt8] {
      var place = start
      var boxes = inside
      for track in tracks {
        boxes += box(track, dataAt: place)
        place += track.sample.count
      }
      return TestHEIF.box("moov", boxes)
    }
    let start = before.count + movie(dataAt: 0).count + after.count + 8
    return before + movie(dataAt: start) + after + TestHEIF.box("mdat", tracks.flatMap(\.sample))
  }

  private static func box(_ track: Track, dataAt place: Int) -> [UInt8] {
    func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
    let size = TestHEIF.number(track.width, 2) + TestHEIF.number(track.height, 2)
    let entry = zeros(24) + size + zeros(50) + track.boxes
    let table =
      TestHEIF.fullBox("stsd", 0, TestHEIF.number(1, 4) + TestHEIF.box(track.codec, entry))
      + TestHEIF.fullBox("stsz", 0, TestHEIF.number(track.sample.count, 4) + TestHEIF.number(1, 4))
      + TestHEIF.fullBox("co64", 0, TestHEIF.number(1, 4) + TestHEIF.number(place, 8))
    let handler = TestHEIF.fullBox("hdlr", 0, [0, 0, 0, 0] + Array(track.handler.utf8) + zeros(13))
    let media = handler + TestHEIF.box("minf", TestHEIF.box("stbl", table))
    let head = track.id.map { TestHEIF.fullBox("tkhd", 0, zeros(8) + TestHEIF.number($0, 4)) } ?? []
    let reference = track.auxiliaryOf.map { TestHEIF.box("tref", TestHEIF.box("auxl", TestHEIF.number($0, 4))) } ?? []
    return TestHEIF.box("trak", head + reference + TestHEIF.box("mdia", media))
  }
}
