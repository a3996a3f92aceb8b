//go:build !unix || darwin

package keychain

// setLabel does nothing: this system's keychain shows the service and the name of a secret.
var setLabel = func(service, name string) error { return nil }
