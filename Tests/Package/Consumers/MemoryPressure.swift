import MemoryPressure

let monitor = try PressureMonitor { event in print(event) }
print(monitor.snapshot.level)
