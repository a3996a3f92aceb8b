package keychain

import "syscall"

// denyAttach is PT_DENY_ATTACH from sys/ptrace.h.
const denyAttach = 31

// protectProcess denies debuggers. On macOS only root, or a program with an entitlement for it, can
// read the memory of another process anyway.
func protectProcess() { _, _, _ = syscall.Syscall(syscall.SYS_PTRACE, denyAttach, 0, 0) }
