//go:build !unix

package keychain

// forget does nothing on Windows, where unsetting a variable also removes it from the system's
// view.
func forget(string) {}
