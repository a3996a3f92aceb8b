//go:build !(linux || freebsd || openbsd || netbsd)

package app

func markUnrequested(uintptr) {}
func raise(uintptr)           {}
