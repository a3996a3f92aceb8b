//go:build !linux

package resident

func forgetFiles() {}
