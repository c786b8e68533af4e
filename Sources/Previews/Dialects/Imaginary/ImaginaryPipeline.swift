import Foundation

/// The operations of a pipeline of imaginary.
struct ImaginaryPipeline: Sendable {
  private static let mostOperations = 10

  private struct Step: Decodable {
    let operation: String
    let params: [String: ImaginaryParameters.Value]?
  }

  private let steps: [(operation: ImaginaryOperation, parameters: ImaginaryParameters)]

  /// - Throws: ``PreviewError``.
  init(json: String) throws(PreviewError) {
    let read: [Step]
    do { read = try JSONDecoder().decode([Step].self, from: Data(json.utf8)) } catch {
      throw .badRequest("the parameter operations must be a JSON array of operations with their params")
    }
    guard (1...Self.mostOperations).contains(read.count) else {
      throw .badRequest("a pipeline has 1 to \(Self.mostOperations) operations")
    }
    var steps: [(ImaginaryOperation, ImaginaryParameters)] = []
    for step in read {
      guard let operation = ImaginaryOperation(rawValue: step.operation) else {
        if ImaginaryOperation.missing.contains(step.operation) { throw ImaginaryOperation.isMissing(step.operation) }
        throw .badRequest("there is no operation \"\(step.operation.prefix(40))\"")
      }
      // In the order of their names, so that a message names the same one each time.
      let values = (step.params ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
      steps.append((operation, try ImaginaryParameters(values)))
    }
    self.steps = steps
  }

  /// What all steps together ask for.
  ///
  /// - Throws: ``PreviewError`` if more than one changes the size.
  func request(_ head: RequestHead) throws(PreviewError) -> PreviewRequest {
    var result: PreviewRequest?
    for (operation, parameters) in steps {
      guard let request = try operation.request(parameters, head) else { continue }
      guard let before = result, before.shape != .whole else {
        let format = request.format ?? result?.format
        result = request
        result?.format = format
        continue
      }
      guard request.shape == .whole else {
        throw PreviewError(501, .request, "a pipeline in which two operations change the size is not supported")
      }
      result?.format = request.format ?? before.format
      result?.quality = request.quality
    }
    return result ?? PreviewRequest(.whole)
  }
}

extension ImaginaryParameters.Value: Decodable {
  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if let text = try? value.decode(String.self) {
      self = .text(text)
    } else if let bool = try? value.decode(Bool.self) {
      self = .bool(bool)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else {
      self = .other
    }
  }
}
