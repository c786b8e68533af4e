"""activate.py [--datagrams] PROGRAM ARGUMENT...: starts a program as systemd does for a socket, which is descriptor 3.

It listens, unless it is to receive datagrams.
"""

import os
import socket
import sys

command = sys.argv[1:]
if command[0] == "--datagrams":
    command.pop(0)
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listener.bind(("127.0.0.1", 0))
else:
    listener = socket.create_server(("127.0.0.1", 0))
if listener.fileno() != 3:
    os.dup2(listener.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.execv(command[0], command)
