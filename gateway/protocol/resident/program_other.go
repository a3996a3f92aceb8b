//go:build !linux

package resident

func forgetProgram() {}
