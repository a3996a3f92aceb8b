// Package keychain keeps tokens and keys: in the operating system's keychain where that works, else in a file that only its owner
// can read, and it says which. It is the only place that knows the keychain's library.
package keychain

import (
	"errors"
	"log/slog"
)

// ErrNotFound says that no secret has the name.
var ErrNotFound = errors.New("secret not found")

// Secret is a token or key. Printing or logging it shows "[secret]"; Reveal is the only way to its text.
type Secret string

const hidden = "[secret]"

// Reveal returns the text.
func (s Secret) Reveal() string { return string(s) }

func (s Secret) String() string       { return hidden }
func (s Secret) GoString() string     { return hidden }
func (s Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText keeps a secret out of JSON that was made by accident.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Store keeps secrets by name, such as "gateway-token" or "key-anthropic". It is safe for use by many goroutines. Every method may block
// on the keychain or the disk for up to [Patience]: never call one on a GUI thread.
type Store interface {
	// Get returns ErrNotFound for a name that has none.
	Get(name string) (Secret, error)
	Set(name string, value Secret) error
	// Delete of a name that has none is fine.
	Delete(name string) error
	// Where is "keychain", or the path of the file.
	Where() string
}

// Keychain is what Where says of the system's keychain.
const Keychain = "keychain"
