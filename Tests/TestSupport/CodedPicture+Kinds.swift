import Foundation

/// Further pictures, of 64 × 64 pixels unless they say otherwise, coded by x265 or libaom: of more bits, of red, green and
/// blue, for alpha, of several slices, and coded larger than they are.
extension CodedPicture {
  /// The colours of ``multipliedQuarters``, in 4:2:0.
  package static let hevcMultiplied = CodedPicture(
    type: "hvc1",
    data:
      "AAAAOigBrwY4Wvz9N/h4f//+kzHof6GfmxS/snaaXyHP//vHqrGY/lH2sb8A5v/+j3s4JI/dOg/8/IdeR9M=",
    configuration:
      "AQNwAAAAAAAAAAAAHvAA/P34+AAADwMgAAEAGEABDAH//wNwAAADAJAAAAMAAAMAHroCQCEAAQArQgEBA3AAAAMAkAAAAwAAAwAeoCCB"
      + "BZbqSRprm4EBAwIAAAMAAgAAAwACECIAAQAHRAHBcrAiQA==")

  package static let av1Multiplied = CodedPicture(
    type: "av01",
    data:
      "EgAKCRgVf/2CAhoNCDItEoACCCCEALRVVbpMKVOWhbfFLN9SIc4HZeDS8oMRpdUboPRpLfWRVtyWqobg",
    configuration:
      "gQAMAA==")

  /// Luma only: 255, 128, 128 and 0 in the four quarters.
  package static let hevcSteps = CodedPicture(
    type: "hvc1",
    data:
      "AAAAHSgBrgxwdQXlv/BzUU2X/Uh5dDq/4choY5/8PDHg",
    configuration:
      "AQQIAAAAAAAAAAAAHvAA/Pz4+AAADwMgAAEAF0ABDAH//wQIAAADAJ/4AAADAAAeugJAIQABACdCAQEECAAAAwCf+AAAAwAAHsCCBBZb"
      + "qSRprmwIAAADAAgAAAMACEAiAAEAB0QBwXKwIkA=")

  package static let av1Steps = CodedPicture(
    type: "av01",
    data:
      "EgAKCRgVf/2GAhoNQDIVEoAIIQC0ci4OxYnQ08MMAxZE75jA",
    configuration:
      "gQAcAA==")

  /// The colours of ``quarters`` as green, blue and red.
  package static let hevcGBR = CodedPicture(
    type: "hvc1",
    data:
      "AAAAPSgBrwY4Wvz9N/xvk///+XZd6H+OzhsJX/HFJ6X6SX//9ZrLQjj4KGo39MsN//5Ie6WoOqzMT8MM/r9Eqsg=",
    configuration:
      "AQQIAAAAnjgAAAAAHvAA/P/4+AAADwNgAAEAF0ABDAH//wQIAAADAJ44AAADAAAeugJAYQABAClCAQEECAAAAwCeOAAAAwAAHpAEECCy"
      + "3UkjTXNwENAAQAAABkAAAAMAQmIAAQAIRAHBcoYMAiQ=")

  package static let av1GBR = CodedPicture(
    type: "av01",
    data:
      "EgAKCTgVf/2EBDQAgDIvEoACCCCEALRVVNXjORl87u3EX8sm8q0oR1ImilR3alOSmXkh8UyAu8LFaNd4KbA=",
    configuration:
      "gSAAAA==")

  package static let av1GBRWith10Bits = CodedPicture(
    type: "av01",
    data:
      "EgAKCTgVf/2MBDQAgDIxEoADDDDEALRVVNyLVxmDxgvDaFMrvM9zw4+71pGr7IjhKPV8LP/JUtF4xfrFf+4dwA==",
    configuration:
      "gSBAAA==")

  /// The colours of ``quarters`` in 4:2:0, the last in 4:4:4, with more bits a sample.
  package static let hevcWith10Bits = CodedPicture(
    type: "hvc1",
    data:
      "AAAAOigBrwY4Wvz9N/h4f//+kzHof6I0RsJX8ryP/80F//8yRixmPmltRv2KNH/+pNhL9Bo73/+bGj14EGw=",
    configuration:
      "AQQIAAAAnbgAAAAAHvAA/P36+gAADwNgAAEAF0ABDAH//wQIAAADAJ24AAADAAAeugJAYQABACpCAQEECAAAAwCduAAAAwAAHqAggQTZ"
      + "bqSRprm4CGgwIAAAAwMgAAADACFiAAEAB0QBwXKwIkA=")

  package static let hevcWith12Bits = CodedPicture(
    type: "hvc1",
    data:
      "AAAAOigBrwY4Wvz9N/htP//+lHvof6IW5sJX8sUX/8yr//8x3mxmPmltRv2K7X/+pHbL9Bnwj/+bGj14EGw=",
    configuration:
      "AQQIAAAAmbgAAAAAHvAA/P38/AAADwNgAAEAF0ABDAH//wQIAAADAJm4AAADAAAeugJAYQABACtCAQEECAAAAwCZuAAAAwAAHqAggQRS"
      + "lupJGmubgIaDAgAAAwAyAAADAAIQYgABAAdEAcFysCJA")

  package static let av1With10Bits = CodedPicture(
    type: "av01",
    data:
      "EgAKCRgVf/2KAhoNCDItEoADDDDEALRVVP7BNlUgO03ODkR8ODG2g/6H/aWl4FA7AS/sTx5X2Mnsi6ZU",
    configuration:
      "gQBMAA==")

  package static let av1With12Bits = CodedPicture(
    type: "av01",
    data:
      "EgAKCVgVf/2NAQ0GiDIvEoADDDDEALRVVQK3mGjfnjDeeoZvN12Oj5xKxCEJPvCEmCFLnir9QxzRLpZ69Uw=",
    configuration:
      "gUBgAA==")

  /// Colours that were multiplied by alpha of 255, 128, 128 and 0.
  package static let multipliedQuarters: [[Double]] = [[200, 40, 40], [20, 90, 30], [25, 30, 105], [0, 0, 0]]

  /// Quarters of these colours in four slices, one below the other, with sample adaptive offset.
  package static let hevcSlices = CodedPicture(
    type: "hvc1",
    data:
      "AAAAJCgBrwngOSNXf//Pax//KGeh+8Vu1ZxQL+jXbftPo/9cyOr/gAAAACQoASjwnjkjV3//z2sf/yhnofvFbtWcUC/o1237T6P/XMjq/4AAAAAk"
      + "KAEw8J45I1d//98sPkfrYb/+wS7VnFAv8eQrf95DSvqxur/gAAAAJCgBOPCeOSNXf//fLD5H62G//sEu1ZxQL/HkK3/eQ0r6sbq/4A==",
    configuration: hevcSlicesConfiguration)

  /// The same in the opposite order, with the same configuration.
  package static let hevcTurnedSlices = CodedPicture(
    type: "hvc1",
    data:
      "AAAAGSgBrwngOePFQWhg9//75YfI/Ww3/9gc+n4AAAAZKAEo8J4548VBaGD3//vlh8j9bDf/2Bz6fgAAACMoATDwnjkjV3/+Fp//08T//qeNtWcU"
      + "f/o12K7T4r/XMjq/4AAAACMoATjwnjkjV3/+Fp//08T//qeNtWcUf/o12K7T4r/XMjq/4A==",
    configuration: hevcSlicesConfiguration)

  private static let hevcSlicesConfiguration =
    "AQNwAAAAkAAAAAAAHvAA/P34+AAADwNgAAEAGEABDAH//wNwAAADAJAAAAMAAAMAHroCQGEAAQApQgEBA3AAAAMAkAAAAwAAAwAeoCCBBZbqrprm"
    + "4CGgwIAAAAyAAAADAIRiAAEABkQBwXPBCQ=="

  /// 24 × 24 pixels, with quarters of ``quarters``, which are coded with 160 × 64.
  package static let hevcPadded = CodedPicture(
    type: "hvc1", side: 24,
    data:
      "AAAA4igBrwW47w9lxvHvKU//0R/Q+0AlV8phFM7rErk9p/oROleMr2euHfe9ll41i5F+2B/vd8mAKCjmdW1WOz2wgcHZxhN9f1m14U1i99MEolcM"
      + "hpMEBc03Gnqjiehy+pc73skmusQndix6vnouU5PknqhdbRGvCgQxYZnR1G4pzAwOczeq41npZUscalw/T9kmD+5LIvxd2egroesfl79oO6i0FQQK"
      + "golnr76/FCgbcOcEnky62QbeBjSdlekbX/MVmV2CnGkda61N/ts7asnZvGud8EoRf2bODl81BYM5FPWe1GA=",
    configuration:
      "AQNwAAAAAAAAAAAAHvAA/P34+AAADwMgAAEAGEABDAH//wNwAAADAJAAAAMAAAMAHroCQCEAAQAuQgEBA3AAAAMAkAAAAwAAAwAeoBQgQcCLCuW6"
      + "kkprm4EBAwIAAAMAAgAAAwACECIAAQAHRAHBcrAiQA==")

  /// An even surface of 512 × 512 pixels in two slices, one below the other, luma only.
  package static let hevcLargeSlices = CodedPicture(
    type: "hvc1", side: 512,
    data:
      "AAAARigBrhMhZQbAPzw3hq0LSuAAAAMAAAMAAAMC4gVpAAADAAADAAADAAADAFdAAAADAAADAAADAAADAq4AAAMAAAMAAAMAGjAAAABGKAEwOEyF"
      + "lBs/PDeGrQtK4AAAAwAAAwAAAwLiBWkAAAMAAAMAAAMAAAMAV0AAAAMAAAMAAAMAAAMCrgAAAwAAAwAAAwAaMA==",
    configuration:
      "AQQIAAAAn/gAAAAAWvAA/Pz4+AAADwNgAAEAF0ABDAH//wQIAAADAJ/4AAADAABaugJAYQABAChCAQEECAAAAwCf+AAAAwAAWsAQCAIBZbqSSmub"
      + "AgAAAwAyAAADAAIQYgABAAdEAcFysEJA")

  /// A sequence parameter set for 8192 × 8192 pixels, with sample adaptive offset. Other pictures refer to it.
  package static let hugeParameters: [UInt8] = Array(
    Data(base64Encoded: "QgEBBAgAAAMAn/gAAAMAAL3AAQAIACABZbqSSmubAgAAAwAyAAADAAIQ") ?? Data())

  /// The colours of ``quarters`` in 4:2:2, but its configuration says 4:4:4.
  package static let av1MislabelledAs444 = CodedPicture(
    type: "av01",
    data:
      "EgAKCVgVf/+SAhoNIDIqEoAAAEAAtFVVuk/CtsPY/GC7j8V3Jscds++vAkNl4n/b2GMLu6WtWbI/",
    configuration:
      "gUAAAA==")

  /// Two layers: the colours of ``quarters``, and the same in the opposite order.
  package static let av1Layers = CodedPicture(
    type: "av01",
    data:
      "EgAKDQAAAAKv/79/MgIaDQg2ACsQAKYAAAJAAAC0g+ok5FNANp0MzSQSTbHTh0FvNf1RwdB8sDhAQSGppfoSNggrMAPAgAAAepgAAAkAAAIAtGBn"
      + "KWmnEOxwID3QaHo4MHMY250vWmng/4ZQ8A==",
    configuration:
      "gQAMAA==")
}
