import Thumbnails

/// How components are coded (A.6.1 and A.6.2).
struct JP2Style: Hashable {
  struct Component: Hashable {
    /// The times that the samples are halved.
    var levels = 0
    /// The size of code blocks, as powers of 2.
    var blockAcross = 6
    var blockDown = 6
    /// Whether each coding pass ends a segment of data.
    var endsPasses = false
    /// Whether passes bypass the arithmetic coder, and end segments.
    var skipsCoder = false
    /// The size of precincts, as powers of 2, of each resolution.
    var precincts: [Precinct] = [Precinct(across: 15, down: 15)]

    init() {}

    /// Reads SPcod or SPcoc.
    init(_ fields: inout BoxFields, hasPrecincts: Bool) throws(ThumbnailError) {
      levels = try fields.u8()
      guard levels <= 32 else { throw .damaged("a component has \(levels) resolution levels") }
      (blockAcross, blockDown) = (try fields.u8() & 0x0F + 2, try fields.u8() & 0x0F + 2)
      let style = try fields.u8()
      (skipsCoder, endsPasses) = (style & 1 != 0, style & 4 != 0)
      try fields.skip(1)
      guard hasPrecincts else { return }
      precincts = []
      for _ in 0...levels {
        let exponents = try fields.u8()
        precincts.append(Precinct(across: exponents & 15, down: exponents >> 4))
      }
    }
  }

  struct Precinct: Hashable {
    var across: Int
    var down: Int
  }

  var layers = 1
  var components: [Component]
}
