//go:build !(linux || freebsd || openbsd || netbsd)

package native

import "image/color"

func markUnrequested(uintptr)            {}
func raise(uintptr)                      {}
func setBackground(uintptr, color.Color) {}
