import CDecoding
import Foundation
import TestSupport
import Testing
import Thumbnails

@testable import Pictures

/// JPEG XL and JPEG 2000: small files that libjxl 0.7 and OpenJPEG 2.5 have written.
@Suite(.timeLimit(.minutes(1)))
struct CodestreamTests {
  /// Four quarters of 32 × 32 pixels, each of one colour and perhaps with an alpha.
  struct Picture: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let type: ImageType
    let bytes: [UInt8]
    var hasAlpha: Bool { testDescription.contains("lpha") }
    var isTurned: Bool { testDescription == "turned" }

    init(_ name: String, _ type: ImageType, _ base64: String) {
      guard let data = Data(base64Encoded: base64) else { preconditionFailure("no base64") }
      (testDescription, self.type, bytes) = (name, type, Array(data))
    }
  }

  private static let colors: [[Int]] = [[200, 40, 40], [40, 180, 60], [50, 60, 210], [128, 128, 128]]
  private static let alphas = [255, 195, 135, 75]

  static let all = [
    Picture(
      "lossless", .jxl,
      "/wpPQEBxIQgCAQC8AEsoN9YfvFdQMAVGlB/3Y4y77rxAEADAMUZJ0J76I9cPs7pvbxc9wKhVxBj0n9AD"),
    Picture(
      "alpha", .jxl,
      "/wpPwILiQggIEADUAEsoN9YfvFeQMAVG1B/3Y4y7684LCAEAHFekAb3pPhsGCi37+3Yl5o/wcf5gINfvMvsF7wMO"),
    Picture(
      "turned", .jxl,
      "AAAADEpYTCANCocKAAAAFGZ0eXBqeGwgAAAAAGp4bCAAAAASanhscAAAAAD/Ck8sEBMAAAHjamJyZMBw2wCCIAgtAwJAIgChRoGQ"
        + "q0oAAEDIUdmCoTj/J4iMEco4pxS0HyFDmKUOMsxA6Q41WB8ynHzMgEMOKixy0LAD20cN/fsjyxx23IGGovtfjHHGJJds8skopzwz"
        + "zTXbfDPOOQs9NNFFG3000klLPTXVVVt9NdZZiz022WWbfTbaacs9N91123033nkLPjjhhRt+OOKJRy755JRXbvnlmGceuuijk166"
        + "6aejnnrsss9Oe+2234577sELPzzxxRt/PPLJRy/99NRXb/312GcPfvjij09++eafj3768Mcv//z012///fjn/69gqqoEAEDIUdmC"
        + "oTj/L4iEUkZZpxSJ8YCQzahBhkl1oKF6sOHcQ44ZUJAPGnLQYQc2FlnmqN/tw44bWtEfeWbwSYb3vxjjjEs2+WSUU6a5Zptvxjln"
        + "oYcmumijj0Y6aamnprpqq6/GOmuxxya7bLPPRjttueemu26778Y778AFH5zwwg0/HPHEI5d8csort/xyzDMPXfTRSS/d9NNRTz12"
        + "2WenvXbbb8c99+CFH5744o0/Hvnko5d+euqrt/567LMPX/zxyS/f/PPRTz9++eenv37778c//3+BHwCoLAALCIDgABBKRklGAAEB"
        + "AAABAAEAAAMAAAArYnJvYkV4aWYbHQAABHRjGwcxW6KpvxMJZZRYtIAkD9CW/4seKRkAAAAA/Wp4bHCAAAAB4FsAEACoAwhYCFgI"
        + "WP7/DgAAGAAIAAEAAAAAAICAJYki001GvWuGDwCg5KSgoKDAqsYY48V4McZ4jIxH3ZU9tuJRqi7yGC84xBijI2IYhSLGMIaxjPYb"
        + "CMB/y06Bytc0IUuR7Vb47Tb/Rwxdk2HkhSoJXaaTx1Za9VKc3BNXUULncAmkRyr0GQmga+ioNWtW8AX2UA1GuWwq2MIwPvMU4Bca"
        + "FiLBu9QC/NgSTvbxJ/0/7BFcipeoMWsgnUvCUs9XpzCeA5WJ/wAATAA4AcRghKsAFCXrtOiI+ivXNoyMwAs8UA2ADCEClAMAAAAA"
        + "AChJAA=="),
    Picture(
      "lossyAlpha", .jxl,
      "/wpPwIbiQgBIgCgAVAld5RIAABUqo4wbvJzr+fJDh8W0jesMbbVtYUnimLDbbd6XUHWyAovcIw8KAHxYRzRKpKCgoKBAtutaiqIY"
        + "Y1QZgwdig92rxIonNbaSVLYi412M8YINMZgXxhjDGIbYYMdgcp6IURUA/Pv7vu8bP+uGYfi+7xs/6oZh+L7vG7bohmH4vu8bdmiG"
        + "YTiO41jLIWut4ziOrRyy1jqO41hcIWut4ziORROy1voovXX8//////37/eMWWxYlTD14ptKCTDNppAUADYhKcIAES1/2CJEjOFyh"
        + "y83m555jPo0EPTEmoqL/ZDNqQbbhZyFOA8hHStpUWPRIS/Y7GGwHQ6uXcPtt5DEuNnHXrWGA4fIemjmSgcn8H+xwcSO2AFhcODYi"
        + "TuWJhGpeCz7j4AGvrMjMsC1PE1Io2Yz2CBcofYb1Dsh3IB4DfDj+5rGnjs9B8GshC33rVd6B6UJA2QsAOTqHunkPmlg6ILlXtWUH"
        + "JDOziGeMbf9dZwGZQ0iBtFbSkZmXlz+Xnxl/PtXnBCDi28qcNVKqZmZnc+0YWrsjVtu6YBvO3RRo211iSHd+dC3xbr1SmnvOhtaB"
        + "htJQXg7XbUvibbxl0W5SJ0cBoINY4U4oOxiwidmGqZHYYYj+UmeQoY/5Ke7H0nx4rTrWYBivzsVfeDl/CVxva9noUCbYIcoU0HpL"
        + "rh7QAKj8N3MvCtlijaeXn6r7NZ1h/jc45hNK98XsmRJaEibuqVhP9J1EgO6Pj1ZcfEu4l3TAhiyw72aqOaz3phIKgBaaoEPpeDzY"
        + "hxrjVu22dCJ5DQg="),
    Picture(
      "rgb", .jp2,
      "AAAADGpQICANCocKAAAAFGZ0eXBqcDIgAAAAAGpwMiAAAAAtanAyaAAAABZpaGRyAAAAQAAAAEAAAwcHAAAAAAAPY29scgEAAAAA"
        + "ABAAAANNanAyY/9P/1EALwAAAAAAQAAAAEAAAAAAAAAAAAAAAEAAAABAAAAAAAAAAAAAAwcBAQcBAQcBAf9SAAwAAAABAAUEBAAB"
        + "/1wAE0BASEhQSEhQSEhQSEhQSEhQ/2QAJQABQ3JlYXRlZCBieSBPcGVuSlBFRyB2ZXJzaW9uIDIuNS40/5AACgAAAAACxgAB/5Pf"
        + "gCgFNZ2Cj8+0FAkKiZ/T34AwB65E+YI/x9oLH2gsH1AoA1Qb2icBQDbCPwAO4R2/x9oLA+QJA+cGBcMnuF8JacEfD/sAwfOEj7QW"
        + "B84QCXITVwnOBnubCXFQn8faFx9oXB9QOBe9d4mbBna9GX2DDxWC/ExMh8QBp98WqCyQqdCLx9oVB84mA+QMFxEjlIj/YxJ1PyDX"
        + "b8lMS3MCPxWMdqXmn8PqCY+0KgfOHBnkUq/C+0//cQxksFU+N5pUUosV/C1Apeh/x9onH2iUPtCAIhkDrB0PhvfnF9iauAZfx6gS"
        + "fwN62WK5DLt5YCg5Y/9o84crfyQsCMxyHrfVx9ofB84+B84cIW0Ha8T4JeNaKZ5wFeWvJMCSX3ygGVtRQS2/Cc0/JN06tK8Mf8Pq"
        + "Do+0QgfOHEnN3WM8cwQtOI+PF2XfAMrYEAqaO68T06Uc1GVFDyTbhDvSVDbH2jEfaOw+0IA2njmcRV4KVUr8y22Xrs8GQtKsjMGp"
        + "Zj9mrfKUpzWvndkMgPTpPTT/BndBg/ZAzitl46D9noMU96Rsu+g5x9otB85KB84YNfI3pp9Mz7vYKFhGvikyc8oG/e+aP4L2a9I0"
        + "+jOmVU3tcoWuttZRj4L/OrL9I8PqEY+0Wg+oHJPk6HNDxiEG+h1c5emP69wGZ2qBzbFht3JqQySRIAPAcgonbv9934L/O7HoJW/H"
        + "2jMfaNQfUCBfpscnbu9g1uTs0FLp9qTcNhn2ohMPbDavxDZKFAB67D74+bqzbupvwYFqBMlYd7e2oh/IN1sWx9onB85SB84QXvrF"
        + "J3wde6TdgC/euH0+gO4IR8h6SoYGD2o5Gk7mBECgwSDQJIkHyDICe8PqFI+0WgfOENCxWzzBh/ztoX/wBg3IWqJgQ5cHxDDqBBjm"
        + "A7SoKwo5IMC1AqrMyBPbA8gx+3T/2Q=="),
    Picture(
      "alpha", .jp2,
      "AAAADGpQICANCocKAAAAFGZ0eXBqcDIgAAAAAGpwMiAAAABPanAyaAAAABZpaGRyAAAAQAAAAEAABAcHAAAAAAAPY29scgEAAAAA"
        + "ABAAAAAiY2RlZgAEAAAAAAABAAEAAAACAAIAAAADAAMAAQAAAAAD4GpwMmP/T/9RADIAAAAAAEAAAABAAAAAAAAAAAAAAABAAAAA"
        + "QAAAAAAAAAAAAAQHAQEHAQEHAQEHAQH/UgAMAAAAAQAFBAQAAf9cABNAQEhIUEhIUEhIUEhIUEhIUP9kACUAAUNyZWF0ZWQgYnkg"
        + "T3BlbkpQRUcgdmVyc2lvbiAyLjUuNP+QAAoAAAAAA1YAAf+T34AoBTWdgo/PtBQJComf09+AMAeuRPmCP9+AMATTeLbDV8faCx9o"
        + "LB9QKANUG9onAUA2wj8ADuEdv8faCwPkCQPnBgXDJ7hfCWnBHw/7AMHzhI+0FgfOEAlyE1cJzgZ7mwlxUJ/B84SH1AgBYGw/AHUE"
        + "H8faFx9oXB9QOBe9d4mbBna9GX2DDxWC/ExMh8QBp98WqCyQqdCLx9oVB84mA+QMFxEjlIj/YxJ1PyDXb8lMS3MCPxWMdqXmn8Pq"
        + "CY+0KgfOHBnkUq/C+0//cQxksFU+N5pUUosV/C1Apeh/wfOHh9QQF9bjMxgsHw8mgBzKNbxfx9onH2iUPtCAIhkDrB0PhvfnF9ia"
        + "uAZfx6gSfwN62WK5DLt5YCg5Y/9o84crfyQsCMxyHrfVx9ofB84+B84cIW0Ha8T4JeNaKZ5wFeWvJMCSX3ygGVtRQS2/Cc0/JN06"
        + "tK8Mf8PqDo+0QgfOHEnN3WM8cwQtOI+PF2XfAMrYEAqaO68T06Uc1GVFDyTbhDvSVDbB84uH1BwiGfOOv3WzEdoiVwOEwUVBPCHC"
        + "+Nkh8J/rx9oxH2jsPtCANp45nEVeClVK/Mttl67PBkLSrIzBqWY/Zq3ylKc1r53ZDID06T00/wZ3QYP2QM4rZeOg/Z6DFPekbLvo"
        + "OcfaLQfOSgfOGDXyN6afTM+72ChYRr4pMnPKBv3vmj+C9mvSNPozplVN7XKFrrbWUY+C/zqy/SPD6hGPtFoPqByT5OhzQ8YhBvod"
        + "XOXpj+vcBmdqgc2xYbdyakMkkSADwHIKJ27/fd+C/zux6CVvw+oNj7RMNp5B433LysixWwZhsGauROAePthIVgDBm/pmRhHwX4PH"
        + "2jMfaNQfUCBfpscnbu9g1uTs0FLp9qTcNhn2ohMPbDavxDZKFAB67D74+bqzbupvwYFqBMlYd7e2oh/IN1sWx9onB85SB84QXvrF"
        + "J3wde6TdgC/euH0+gO4IR8h6SoYGD2o5Gk7mBECgwSDQJIkHyDICe8PqFI+0WgfOENCxWzzBh/ztoX/wBg3IWqJgQ5cHxDDqBBjm"
        + "A7SoKwo5IMC1AqrMyBPbA8gx+3TB84yH1Bpfpsc/m/oWTAAAwj/ENkqeiVgek4AAGEhL/9k="),
    Picture(
      "codestream", .jp2,
      "/0//UQAvAAAAAABAAAAAQAAAAAAAAAAAAAAAQAAAAEAAAAAAAAAAAAADBwEBBwEBBwEB/1IADAAAAAEAAgQEAAH/XAAKQEBISFBI"
        + "SFD/ZAAlAAFDcmVhdGVkIGJ5IE9wZW5KUEVHIHZlcnNpb24gMi41LjT/kAAKAAAAAALtAAH/k8+2ghQAWxjbf2Nge3Gih/XIq0D1"
        + "lw1m4VXOP7053pgAABhHmQpRyrm9KgHdfHuC+GXOsyKGmEGWL+/fWWTWYrugAGiKoI/KEcGEb2W9E1HgGPi4DMscYlJ0HnUQOmKz"
        + "0eGe09BW/VbAEPsj141KtCzqkJvphlBQBsepCbwCwcgziA/z31/PtegRUFMZCq6u4Rg3vCcD81DN7vB92MH86kwAAABhIQS7jwtH"
        + "tIzl2ukoMI9pRAGEd8phH0KMjHQGyFcOH/eHH1o1y1QGEb0/SAylsI8WyVmoF5IDR0mb0HtKgAZLiOc1cgBDUiUeNhn81poGVItn"
        + "D4XTN24ZQtw+1f1tj8+17BFQVK1S8LWGxomvZOexSN7bNwqucJRB3wg/0AAYR5inEfc1+Ie506o4SbGm3jQAMIzdk6A9IvtA8Zlc"
        + "PD2M2M8VdjhhG9P0fhw9iPOoh6BAj3/oCdwd4Vhd+/j3nuF4JiWRMow/pefugN6PEbdzXf1bx094rFdz/4Blx8faMR9o7D7QgDae"
        + "OZxFXgpVSvzLbZeuzwZC0qyMwalmP2at8pSnNa+d2QyA9Ok9NP8Gd0GD9kDOK2XjoP2egxT3pGy76DnH2i0HzkoHzhg18jemn0zP"
        + "u9goWEa+KTJzygb975o/gvZr0jT6M6ZVTe1yha621lGPgv86sv0jw+oRj7RaD6gck+Toc0PGIQb6HVzl6Y/r3AZnaoHNsWG3cmpD"
        + "JJEgA8ByCidu/33fgv87seglb8faMx9o1B9QIF+mxydu72DW5OzQUun2pNw2GfaiEw9sNq/ENkoUAHrsPvj5urNu6m/BgWoEyVh3"
        + "t7aiH8g3WxbH2icHzlIHzhBe+sUnfB17pN2AL964fT6A7ghHyHpKhgYPajkaTuYEQKDBINAkiQfIMgJ7w+oUj7RaB84Q0LFbPMGH"
        + "/O2hf/AGDchaomBDlwfEMOoEGOYDtKgrCjkgwLUCqszIE9sDyDH7dP/Z"),
    Picture(
      "tiles", .jp2,
      "AAAADGpQICANCocKAAAAFGZ0eXBqcDIgAAAAAGpwMiAAAAAtanAyaAAAABZpaGRyAAAAQAAAAEAAAwcHAAAAAAAPY29scgEAAAAA"
        + "ABAAAAQianAyY/9P/1EALwAAAAAAQAAAAEAAAAAAAAAAAAAAACgAAAAoAAAAAAAAAAAAAwcBAQcBAQcBAf9SAAwAAAABAAUEBAAB"
        + "/1wAE0BASEhQSEhQSEhQSEhQSEhQ/2QAJQABQ3JlYXRlZCBieSBPcGVuSlBFRyB2ZXJzaW9uIDIuNS40/5AACgAAAAACIQAB/5Pf"
        + "gDAFIBG163/PtBQI9wcyMM+0FAZG/zh2x9oHH2gcD5wQA0+nBFE7AB/D6gOB8gKA+QCACCufB88HwPkBR9oHAfIBBjkF738Ix9oL"
        + "H2gsH1AQDvAQH4MLK8KMVw+xx9oLA+QLA+cEEBPjRu8MDg8LfxCDwPkCR9oLA+cGEBhrbwwOa0HxEIc/x9oZH2hsPtBgIhj/Oknl"
        + "Q5pWE/jkA3s6Qz9KWIDVFHPtfyQlIIt4i8faGQfOJgfOGCFs/Xf7B6OkApHJfySwO47n5ebJWCTgAQzjNcHzio+0MgfOGCTRorEx"
        + "zQm56W8AywnhvOYOC7NetX8k3/5c2z/H2icfaKw+0IA2nqtRT5p+4hKG/mpMFLlI5CJxR+fwFnqP3qSPgjYnMKo0c5xySDCna/l3"
        + "iSAQNm/H2iMHzjIHzhg18qmjYXezouzjmq8zzaR9f2x9EbWEx/yfG6JDH2yy+vtIf8PqDY+0Pg+oGI5OrYbHDFkyPN5JZE9IpIC2"
        + "B71rIASzlDI6qlFssuUu+53H2iMfaKQfUCBfpsb492ITcK3gpdNQf00lUqpyKE2Jj1H0i9jN3UGObHIQAXl/um7xwsfaIQfOOgfO"
        + "EF76xPlJXDvEEBfvl5Mloj+7ehGrs6picdH7+c8zx7pZihPD6g6PtEoHzhDD5VL4ZPiEBZ8T82y6Q6pcqA4vvjWKCrrxmbgm7tgY"
        + "j7pZcGP/kAAKAAEAAACvAAH/k8/ADg+oCAXWhwmfx9oHB9QEAV3fBH/PwA4PqAQGIucIofUBAAw6oPnBAAsnofUBAAxZofUDgADI"
        + "lhA4K3Og+cMAA3iX16h/ofUDgADIlemZvl+h9QSANCBe/yvckPSfoPnDgDNjrD7Y1MSh9QUANCBkXZYB/sr1P6H1BQCQ0Ko/XcTM"
        + "AY4foPnEgJDmKo/5nXwX9aH1BQCQ0Ko/s83MAZN//5AACgACAAAArgAB/5PPwA4PqAgGKCMIP8/ADg+oBAYi5wjPwA4PqAgDJu8A"
        + "H8PqAgAMU8PqAgAMWcPqAgALl8PqBwAc9ApSKafHw+oGABz0CpUOT8PqBgAb7gykVevD6gkANfHjER8LmeNXw+oJADXx5KmsLUcz"
        + "eMPqCAA2neURH+RiG8PqCQBe+sTIckohIR/D6goAXvrEyKL0AAxaf8PqCgBfpsbFw2VhH4Gi/5AACgADAAAAHQAB/5OAgICAgICA"
        + "gICAgICAgID/2Q=="),
  ]

  @Test(arguments: all) func theQuartersHaveTheirColors(_ picture: Picture) throws {
    #expect(ImageType.sniff(picture.bytes) == picture.type)
    let file = try DecodedFile(picture.bytes, picture.type)
    #expect(file.status == CDECODING_OK, "\(file.message)")
    #expect(file.header.pixels == PixelSize(width: 64, height: 64) && file.header.hasAlpha == picture.hasAlpha)
    #expect(file.header.orientation == (picture.isTurned ? Orientation(rawValue: 6) : .upright))
    for (index, place) in [(16, 16), (48, 16), (16, 48), (48, 48)].enumerated() {
      let pixel = file.pixel(place.0, place.1)
      for (made, wanted) in zip(pixel.colors, Self.colors[index]) {
        #expect(abs(Int(made) - wanted) <= 5, "\(pixel.colors) at \(place)")
      }
      #expect(abs(Int(pixel.alpha) - (picture.hasAlpha ? Self.alphas[index] : 255)) <= 2)
    }
  }

  /// A smaller version of each quarter still has its colour.
  @Test(arguments: all.filter { $0.type == .jp2 }, [4.0, 9, 17]) func fewerLevelsShowTheSame(
    _ picture: Picture, _ reduction: Double
  ) throws {
    let file = try DecodedFile(picture.bytes, picture.type, reduction: reduction)
    #expect(file.status == CDECODING_OK, "\(file.message)")
    let (columns, rows) = file.size
    #expect(columns < 64 && columns >= Int(64 / reduction))
    for (index, place) in [(1, 1), (3, 1), (1, 3), (3, 3)].enumerated() {
      let pixel = file.pixel(columns * place.0 / 4, rows * place.1 / 4)
      for (made, wanted) in zip(pixel.colors, Self.colors[index]) {
        #expect(abs(Int(made) - wanted) <= 8, "\(pixel.colors) at \(place)")
      }
    }
  }

  @Test(arguments: all) func aFileThatIsCutOffFails(_ picture: Picture) {
    for count in stride(from: 0, to: picture.bytes.count - 2, by: 7) {
      let cut = Array(picture.bytes.prefix(count))
      do throws(ThumbnailError) {
        let file = try DecodedFile(cut, picture.type)
        #expect(file.status == CDECODING_TRUNCATED || file.status == CDECODING_DAMAGED, "\(count): \(file.message)")
      } catch {
        switch error {
        case .truncated, .damaged: break
        default: Issue.record("\(count): \(error)")
        }
      }
    }
  }

  /// Headers of any bytes are read or refused. libjxl's build of Debian ends the process at some faults, so files are not
  /// decoded here.
  @Test(arguments: all) func changedHeadersAreReadOrRefused(_ picture: Picture) {
    var numbers = SplitMix(seed: 11)
    for _ in 0..<3000 {
      let bytes = numbers.changed(picture.bytes, bytes: 1...4, within: 200)
      guard let header = try? PictureReader.readHeader(of: ByteReader(bytes: bytes), type: picture.type) else {
        continue
      }
      #expect(header.pixels.count > 0 && header.workingBytes > 0 && header.rareBytes >= 0)
      guard case .jp2(let coding) = header.coding else { continue }
      #expect(coding.resolutions.allSatisfy { $0.pixels.count > 0 && $0.bytes > 0 })
    }
  }
}
