import AccessRecording

let names = Shared<[String]>([])
names.modify { $0.append("one") }
print(names.read { $0.count })
