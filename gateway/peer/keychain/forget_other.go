//go:build !unix

package keychain

// forget has nothing to do on Windows: a variable that is unset is gone from what the system shows.
func forget(string) {}
