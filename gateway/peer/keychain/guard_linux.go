package keychain

import "golang.org/x/sys/unix"

// seclude cannot fail: every kernel knows it.
func seclude() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
