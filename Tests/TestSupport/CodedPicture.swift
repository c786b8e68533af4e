import Foundation

/// A small picture, coded by x265 or libaom.
package struct CodedPicture {
  package let type: String
  /// Its width and its height, in pixels.
  package let side: Int
  package var data: [UInt8]
  /// The contents of the box `hvcC` or `av1C`.
  package var configuration: [UInt8]

  package init(type: String, side: Int = 64, data: String, configuration: String) {
    (self.type, self.side) = (type, side)
    self.data = Array(Data(base64Encoded: data) ?? Data())
    self.configuration = Array(Data(base64Encoded: configuration) ?? Data())
  }

  package var property: [UInt8] { TestHEIF.box(type == "av01" ? "av1C" : "hvcC", configuration) }

  /// The colours of the four quarters: top left, top right, bottom left, bottom right.
  package static let quarters: [[Double]] = [[200, 40, 40], [40, 180, 60], [50, 60, 210], [128, 128, 128]]

  /// Quarters of these colours, in 4:2:0, with the whole range.
  package static let hevcColors = CodedPicture(
    type: "hvc1",
    data:
      "AAAAOigBrwY4Wvz9N/h4f//+kzHof6GfmwlfyTaf/yHP//zAqrGY+b7/G/Yo0f/6jCPLUGp2wnx5Hdfa91w=",
    configuration:
      "AQNwAAAAAAAAAAAAHvAA/P34+AAADwMgAAEAGEABDAH//wNwAAADAJAAAAMAAAMAHroCQCEAAQArQgEBA3AAAAMAkAAAAwAAAwAe"
      + "oCCBBZbqSSmubgQEDAgAAAMACAAAAwAIQCIAAQAHRAHBcrAiQA==")

  /// Luma only: 255 at the left, 0 at the right.
  package static let hevcAlpha = CodedPicture(
    type: "hvc1",
    data:
      "AAAAGCgBrgxwdQXlv/BzUU2X/qXwj6Nq/4g5jA==",
    configuration:
      "AQQIAAAAAAAAAAAAHvAA/Pz4+AAADwMgAAEAF0ABDAH//wQIAAADAJ/4AAADAAAeugJAIQABACZCAQEECAAAAwCf+AAAAwAAHsCC"
      + "BBZbqSSmubAgAAADACAAAAMAISIAAQAHRAHBcrAiQA==")

  package static let av1Colors = CodedPicture(
    type: "av01",
    data:
      "EgAKCRgVf/2CBAQNCDIsEYAAAEC0VVUXZhJVkYbt0rJPe5Pfv99Bn7ibsmuVg7+G4M4JTXsBknfyyAw=",
    configuration:
      "gQAMAA==")

  package static let av1Alpha = CodedPicture(
    type: "av01",
    data:
      "EgAKBhgVf/2FQDIQEYAAAQC0ci2ixk/zvL3nMA==",
    configuration:
      "gQAcAA==")

  // MARK: Changed data

  /// The same picture without one of its NAL units, counted from 0: that becomes filler data, which decoders pass over.
  package func without(unit number: Int) -> CodedPicture {
    var copy = self
    var place = 0
    for _ in 0..<number { place += 4 + data[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
    copy.data[place + 4] = 38 << 1
    return copy
  }

  /// The same picture whose data begin with another NAL unit.
  package func preceded(by unit: [UInt8]) -> CodedPicture {
    var copy = self
    copy.data = TestHEIF.number(unit.count, 4) + unit + data
    return copy
  }
}
