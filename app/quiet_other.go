//go:build !(linux || freebsd || openbsd || netbsd)

package app

func unasked(uintptr) {}
func raise(uintptr)   {}
