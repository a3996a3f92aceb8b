package keychain

import "syscall"

// denyAttach is PT_DENY_ATTACH from sys/ptrace.h.
const denyAttach = 31

// seclude denies debuggers. On macOS only root, or a program with an entitlement for it, can read
// the memory of another process anyway.
func seclude() { _, _, _ = syscall.Syscall(syscall.SYS_PTRACE, denyAttach, 0, 0) }
