// Package keychain stores tokens and keys: in the operating system's keychain if that works,
// otherwise in a file that only its owner can read. It reports which one is used. Only this package
// imports the keychain library.
package keychain

import (
	"errors"
	"log/slog"
	"os"
	"strings"

	"fairlead/gateway/protocol"
)

// ErrNotFound is returned for a name without a secret.
var ErrNotFound = errors.New("secret not found")

// Secret is a token or key. Printing or logging it shows "[secret]"; only Reveal returns its text.
type Secret string

const hidden = "[secret]"

// Reveal returns the text.
func (s Secret) Reveal() string { return string(s) }

func (s Secret) String() string       { return hidden }
func (s Secret) GoString() string     { return hidden }
func (s Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText prevents a secret from being written to JSON by accident.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Store stores secrets by name, such as "gateway-token" or "key-anthropic". It is safe for
// concurrent use. Every method may block on the keychain or the disk for up to [Patience]; never
// call one on a GUI thread.
type Store interface {
	// Get returns ErrNotFound if there is no secret with the name.
	Get(name string) (Secret, error)
	Set(name string, value Secret) error
	// Delete succeeds if there is no secret with the name.
	Delete(name string) error
	// Where returns "keychain", or the path of the file.
	Where() string
}

// Keychain is the result of Where for the system's keychain.
const Keychain = "keychain"

// minHidden is the minimum length in bytes of a secret to look for in texts; a shorter one would
// match by chance.
const minHidden = 8

// Hide removes a secret from an error's text, and returns any other error unchanged. It is needed
// because servers quote the key that they refuse, and errors are stored, displayed and logged.
func Hide(err error, value string) error {
	if err == nil || len(value) < minHidden || !strings.Contains(err.Error(), value) {
		return err
	}
	text := strings.ReplaceAll(err.Error(), value, protocol.MaskedSecret)
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		e = e.With(text)
		e.Details = nil
		return e
	}
	return errors.New(text)
}

// TokenVariable is the environment variable that can give a program the gateway's token.
const TokenVariable = "FAIRLEAD_TOKEN"

// FromEnv returns the token from the environment; empty if none exists.
func FromEnv() Secret { return Secret(os.Getenv(TokenVariable)) }

// ProtectProcess forbids other programs of the same user to read this process's memory and
// environment, which contain secrets, as far as the system supports that. This includes the
// commands that it starts. It is the first call in main, before other goroutines exist.
//
// On Linux the process becomes undumpable: only root can read its memory, open files and variables,
// or trace it, and there is no core file. On macOS no debugger can attach. On Windows, other
// processes of the user can only wait for it, terminate it and query whether it runs. It does not
// stop root, or a program that reads the secrets file, which belongs to the user.
func ProtectProcess() { protectProcess() }
