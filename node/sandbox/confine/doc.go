// Package confine restricts the calling thread, and with it every process that is started from it: files by Landlock, system calls by seccomp,
// privileges by dropping capabilities. All but [Resolver] is for Linux only.
//
// Landlock and seccomp bind a thread, not a process, unless one asks for more. So the sandbox's helper needs no second exec between fork and
// command: a goroutine locked to its thread restricts that thread, starts the command from it and ends, and the thread with it. Libraries for
// Landlock restrict the whole process, which is why the three system calls are made here directly.
package confine
