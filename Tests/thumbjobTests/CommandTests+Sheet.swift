import Foundation
import TestSupport
import Testing

extension CommandTests {
  /// The contact sheet of the built binary, as a reader of PDF files sees it.
  @Suite struct Sheet {
    private static let names = ["Берег моря.jpg", "صورة.jpg", "ελιά.jpg", "😀.jpg"]

    private func photos(_ names: [String]) throws -> TemporaryFolder {
      let folder = TemporaryFolder()
      let photo = SyntheticPhoto(seed: 1, width: 60, height: 40).jpeg()
      for name in names { try folder.write(photo, to: "images/\(name)") }
      return folder
    }

    private func output(_ command: String..., in folder: TemporaryFolder) async throws -> String {
      let ending = try await BuiltCommand.run(executable: "/usr/bin/env", command, in: folder)
      #expect(ending.status == 0, "\(command): \(ending.errors)")
      return ending.output
    }

    static let canRead = [
      "/usr/bin/pdftotext", "/usr/bin/pdffonts", "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    ].allSatisfy(FileManager.default.fileExists)

    @Test(.enabled(if: canRead, "needs poppler-utils and fonts-dejavu-core"))
    func namesOfOtherScriptsCanBeReadAndCopied() async throws {
      let folder = try photos(Self.names)
      let ending = try await BuiltCommand.run("images", "--contact-sheet", "sheet.pdf", in: folder)
      #expect(ending.status == 0 && !ending.errors.contains("?"), "\(ending.errors)")
      let text = try await output("pdftotext", "sheet.pdf", "-", in: folder)
      // pdftotext takes every line for one that runs from left to right, and so puts the extension of Arabic first.
      for name in Self.names.map({ $0 == "صورة.jpg" ? "صورة" : $0 }) {
        #expect(text.contains(name), "\(name) is not in \(text)")
      }
      let fonts = try await output("pdffonts", "sheet.pdf", in: folder)
      // Embedded, a subset, and with a map to Unicode.
      #expect(fonts.contains(#/\+DejaVuSans +CID TrueType .* yes yes yes\b/#), "\(fonts)")
      let again = try await BuiltCommand.run("images", "--contact-sheet", "sheet.pdf", in: folder)
      #expect(again.errors.contains("up to date"))
    }

    @Test func namesOfOneLanguageNeedNoFonts() async throws {
      let folder = try photos(["Käse.jpg", "a.jpg"])
      let environment = try withoutFonts(folder)
      let ending = try await BuiltCommand.run(
        "images", "--contact-sheet", "sheet.pdf", in: folder, environment: environment)
      #expect(ending.status == 0 && !ending.errors.contains("shown with"), "\(ending.errors)")
    }

    /// The configuration of a system without fonts.
    private func withoutFonts(_ folder: TemporaryFolder) throws -> [String: String] {
      try folder.write(Array("<fontconfig><dir>\(folder("none"))</dir></fontconfig>".utf8), to: "fonts.conf")
      return ["FONTCONFIG_FILE": folder("fonts.conf")]
    }

    @Test func withoutFontsNamesHaveQuestionMarksWhichIsSaidOnce() async throws {
      let folder = try photos(Self.names)
      let environment = try withoutFonts(folder)
      let ending = try await BuiltCommand.run(
        "images", "--contact-sheet", "sheet.pdf", in: folder, environment: environment)
      #expect(ending.status == 0)
      let lines = ending.errorLines.filter { $0.contains("shown with “?”") }
      let end = "no font of the system has these characters; install one, such as fonts-noto-core or fonts-noto-cjk"
      #expect(lines.count == 1 && lines.allSatisfy { $0.hasSuffix(end) }, "\(ending.errors)")
      #expect(lines.first?.contains("contact sheet sheet.pdf: 4 texts shown with") == true)
    }

    @Test func withoutTheLibrariesNamesHaveQuestionMarksWhichIsSaidOnce() async throws {
      let folder = try photos(Self.names)
      // A file that is no library stands for one that is missing.
      try folder.write(Array("none".utf8), to: "libraries/libfribidi.so.0")
      let ending = try await BuiltCommand.run(
        "images", "--contact-sheet", "sheet.pdf", "--json", in: folder,
        environment: ["LD_LIBRARY_PATH": folder("libraries")])
      #expect(ending.status == 0)
      let line = "because libfribidi.so.0 cannot be loaded; install libharfbuzz-subset0, libfontconfig1 and libfribidi0"
      #expect(ending.errors.components(separatedBy: line).count == 2, "\(ending.errors)")
      let event = try #require(ending.output.split(separator: "\n").first { $0.contains("\"contact-sheet\"") })
      #expect(event.contains("\"warnings\":[\"4 texts shown with “?”"))
    }

    @Test(.enabled(if: canRead, "needs poppler-utils")) func eachFolderHasAHeading() async throws {
      let folder = try photos(["2023/a.jpg", "2023/mai/b.jpg", "2024/c.jpg"])
      let ending = try await BuiltCommand.run("images", "--contact-sheet", "sheet.pdf", in: folder)
      #expect(ending.errors.contains("contact sheet sheet.pdf: 1 page\n"), "\(ending.errors)")
      let text = try await output("pdftotext", "-layout", "sheet.pdf", "-", in: folder)
      let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
      #expect(lines.prefix(6) == ["2023", "a.jpg", "2023/mai", "b.jpg", "2024", "c.jpg"], "\(lines)")
    }
  }
}
