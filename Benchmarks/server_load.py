"""Loads the server of server-example with a thousand clients: requests, refusals, time to an answer and memory. Then
TERM, with requests under way: all of them are answered."""

import argparse
import asyncio
import collections
import signal
import statistics
import sys
import time
from pathlib import Path

CLIENTS = 1000


async def get(port, path, user):
    """Sends a request on a connection of its own; returns the status, or why there is none, and the seconds."""
    start = time.monotonic()
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {user}\r\nConnection: close\r\n\r\n"
            writer.write(head.encode())
            answer = await asyncio.wait_for(reader.read(), 60)
        finally:
            writer.close()
    except (OSError, TimeoutError) as error:
        return type(error).__name__, time.monotonic() - start
    return (answer.split(b" ", 2)[1].decode() if answer else "closed"), time.monotonic() - start


async def client(port, number, end, results):
    """Asks again and again, after a pause if it was refused."""
    request = 0
    while time.monotonic() < end:
        request += 1
        status, seconds = await get(port, f"/digest/{number * 1000 + request}", f"user{number % 100}")
        results.append((status, seconds))
        if status != "200":
            await asyncio.sleep(1)


def resident(pid):
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line)
    return int(fields["VmRSS"].split()[0]) / 1024


async def watch(pid, end, memory):
    while time.monotonic() < end:
        memory.append(resident(pid))
        await asyncio.sleep(0.5)


async def load(process, port, seconds):
    end = time.monotonic() + seconds
    results, memory = [], []
    await asyncio.gather(
        watch(process.pid, end, memory), *(client(port, number, end, results) for number in range(CLIENTS)))
    counts = collections.Counter(status for status, _ in results)
    answered = sorted(took for status, took in results if status == "200")
    refused = sorted(took for status, took in results if status == "503")
    print(f"{CLIENTS} clients, {seconds} s: " + ", ".join(f"{count} × {status}" for status, count in counts.items()))
    for name, times in (("answered", answered), ("refused", refused)):
        if times:
            print(f"{name}: median {statistics.median(times) * 1e3:.0f} ms, "
                  f"99th percentile {times[len(times) * 99 // 100] * 1e3:.0f} ms")
    quarter = max(1, len(memory) // 4)
    print("memory in MiB, by quarters of the time: " + ", ".join(
        f"{max(memory[start:start + quarter]):.0f}" for start in range(0, len(memory) - quarter + 1, quarter)))
    return set(counts) <= {"200", "503"}


async def stop(process, port):
    """Sends TERM while requests are under way."""
    requests = [asyncio.create_task(get(port, f"/digest/{number}", f"user{number}")) for number in range(40)]
    await asyncio.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    statuses = collections.Counter(status for status, _ in await asyncio.gather(*requests))
    print(f"40 requests under way at TERM: {dict(statuses)}")
    output, _ = await process.communicate()
    print(output.decode().strip())
    return statuses["200"] == 40 and process.returncode == 0


async def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--port", type=int, default=18431)
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    process = await asyncio.create_subprocess_exec(
        options.program, "--port", str(options.port), stdout=asyncio.subprocess.PIPE)
    while (await get(options.port, "/status", "nobody"))[0] != "200":
        await asyncio.sleep(0.1)
    held = await load(process, options.port, options.seconds)
    held = await stop(process, options.port) and held
    sys.exit(0 if held else 1)


asyncio.run(main())
