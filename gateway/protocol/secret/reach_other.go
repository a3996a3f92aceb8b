//go:build !unix || darwin

package secret

// reachable finds the keychain of the system everywhere.
func reachable() error { return nil }
