// Package confine restricts the calling thread, and with it every process that is started from it:
// files by Landlock, system calls by seccomp, and privileges by dropping capabilities. It is for Linux
// only.
//
// Landlock and seccomp restrict a thread, not a process, unless asked to do more. So the sandbox's
// helper needs no second exec between fork and command: a goroutine that is locked to its thread
// restricts that thread, starts the command from it and ends, and the thread ends with it.
// Libraries for Landlock restrict the whole process; therefore this package makes the three system
// calls directly.
package confine
