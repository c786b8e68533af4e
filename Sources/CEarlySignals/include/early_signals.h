// Blocks the signals that a job handles before `main`, which runs only after the program's other initialisers. A signal
// that came in between would kill the process; blocked, it waits for the listener. There is nothing to call.
