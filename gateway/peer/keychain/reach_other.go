//go:build !unix || darwin

package keychain

// reachable finds the keychain of the system everywhere.
func reachable() error { return nil }
