import Foundation
import Testing

@testable import Thumbnails

@Suite(.timeLimit(.minutes(5))) struct LinearLightTests {
  @Test func linearLightKeepsTheBrightnessOfACheckerboard() throws {
    let checker: (Double, Double) -> Double = { x, y in (Int(x) + Int(y)) % 2 == 0 ? 0 : 255 }
    let grey = TestJPEG.grey(64, 64, value: checker).bytes()
    #expect(abs(try thumbnail(of: grey, "4").value(0, 0.5, 0.5) - 128) <= 2)
    // Half of the light is sRGB value 188.
    #expect(abs(try thumbnail(of: grey, "4") { $0.linear = true }.value(0, 0.5, 0.5) - 188) <= 2)
    let color = TestJPEG.ycc(64, 64, h: 2, v: 2) { component, x, y in component == 0 ? checker(x, y) : 128 }.bytes()
    let made = try thumbnail(of: color, "4") { $0.linear = true }
    #expect(isClose(made.rgb(0.5, 0.5), [188, 188, 188], within: 3))
  }

  @Test func linearLightKeepsTheGeometry() throws {
    // All colours are inside RGB's range, because YCbCr also holds colours that RGB cannot.
    let source = TestJPEG.ycc(75, 53, h: 2, v: 2) { component, x, y in
      [100 + x, 110 + y / 2, 145 - x / 3][component]
    }.bytes()
    let plain = try thumbnail(of: source, "25")
    let linear = try thumbnail(of: source, "25") { $0.linear = true }
    for (x, y) in [(0.1, 0.1), (0.5, 0.5), (0.9, 0.2), (0.2, 0.9)] {
      #expect(isClose(plain.color(x, y), linear.color(x, y), within: 4))
    }
  }

  /// A profile's curve differs from sRGB's, so the profile must convert its values before they are averaged as light.
  @Test func linearLightFollowsTheProfilesCurve() throws {
    let checker: (Double, Double) -> Double = { x, y in (Int(x) + Int(y)) % 2 == 0 ? 60 : 220 }
    var source = TestJPEG.ycc(64, 64) { component, x, y in component == 0 ? checker(x, y) : 128 }
    let profile = TestProfile.wide()
    source.segments += TestProfile.segments(profile)
    // With gamma 1.8: the mean of both lights, as a value of the profile, and then as a value of sRGB.
    let light = (pow(60.0 / 255, 1.8) + pow(220.0 / 255, 1.8)) / 2
    let value = UInt8((pow(light, 1 / 1.8) * 255).rounded())
    let expected = TestProfile.toSRGB(profile, [value, value, value])
    let made = try thumbnail(of: source.bytes(), "4") { $0.linear = true }
    #expect(isClose(made.rgb(0.5, 0.5), expected, within: 2), "\(made.rgb(0.5, 0.5)) for \(expected)")

    var grey = TestJPEG.grey(64, 64, value: checker)
    grey.segments += TestProfile.segments(TestProfile.grey(gamma: 1))
    let greyValue = 1.055 * pow(140.0 / 255, 1 / 2.4) - 0.055
    let madeGrey = try thumbnail(of: grey.bytes(), "4") { $0.linear = true }
    #expect(abs(madeGrey.value(0, 0.5, 0.5) - Int(greyValue * 255)) <= 2)
  }

  /// Subsampled chroma is sited at the centre between luma samples. A ramp shows a shift of even half a sample.
  @Test func linearLightKeepsChromaAligned() throws {
    let ramp: (Int, Double, Double) -> Double = { component, x, y in
      component == 0 ? 128 : component == 1 ? 80 + x * 1.5 : 176 - y * 1.5
    }
    let half = try thumbnail(of: TestJPEG.ycc(64, 64, h: 2, v: 2, value: ramp).bytes(), "64") {
      ($0.linear, $0.subsampling) = (true, .s444)
    }
    for (x, y) in [(10, 20), (21, 43), (32, 11), (51, 50)] {
      for component in 1...2 {
        let value = Int(half.planes[component].samples[y * 64 + x])
        let expected = ramp(component, Double(x) + 0.5, Double(y) + 0.5)
        #expect(abs(Double(value) - expected) <= 1.2, "component \(component) at \(x) \(y)")
      }
    }
  }
}
