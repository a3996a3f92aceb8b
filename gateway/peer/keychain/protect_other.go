//go:build !linux && !darwin && !windows

package keychain

func protectProcess() {}
