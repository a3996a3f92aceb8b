// Package identity proves who is at the other end of a connection: device keys, certificate pins of
// gateways, and the gateways with which this device is paired (docs/protocol.md#pairing). Gateways
// and devices use it. It is not called tls, because its users import crypto/tls too.
package identity

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
)

// ShortWords is the number of words that represent a hash for comparison by people.
const ShortWords = 4

// KeyName is the name of the device key in the secret store.
const KeyName = "device-key"

// Key is a device's key. The zero value has no key.
type Key struct{ key ed25519.PrivateKey }

// NewKey creates a key.
func NewKey() Key {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err) // impossible: crypto/rand never fails
	}
	return Key{key}
}

// OpenKey reads this device's key from its secrets, or creates and stores it the first time.
// It may block as [keychain.Store] does.
func OpenKey(store keychain.Store) (Key, error) {
	text, err := store.Get(KeyName)
	if errors.Is(err, keychain.ErrNotFound) {
		return ResetKey(store)
	}
	if err != nil {
		return Key{}, fmt.Errorf("read the device's key: %w", err)
	}
	seed, err := base64.RawURLEncoding.DecodeString(text.Reveal())
	if err != nil || len(seed) != ed25519.SeedSize {
		return Key{}, errors.New("the device's key is damaged: create a new one with \"fairlead pair reset\", then pair every gateway again")
	}
	return Key{ed25519.NewKeyFromSeed(seed)}, nil
}

// ResetKey creates and stores a new key that replaces the current one. Gateways that know the
// old key refuse the device from then on. It may block as [keychain.Store] does.
func ResetKey(store keychain.Store) (Key, error) {
	id := NewKey()
	if err := store.Set(KeyName, keychain.Secret(base64.RawURLEncoding.EncodeToString(id.key.Seed()))); err != nil {
		return Key{}, fmt.Errorf("store the device's key: %w", err)
	}
	return id, nil
}

// Public returns the public key.
func (i Key) Public() ed25519.PublicKey { return i.key.Public().(ed25519.PublicKey) }

// ID returns the ID of the device.
func (i Key) ID() protocol.DeviceID { return DeviceID(i.Public()) }

// Sign signs a message for a purpose; the signature is invalid for any other purpose.
func (i Key) Sign(purpose string, message []byte) []byte {
	return ed25519.Sign(i.key, signedMessage(purpose, message))
}

// Verify checks a signature by Sign.
func Verify(key ed25519.PublicKey, purpose string, message, signature []byte) bool {
	return len(key) == ed25519.PublicKeySize && ed25519.Verify(key, signedMessage(purpose, message), signature)
}

func signedMessage(purpose string, message []byte) []byte {
	return append([]byte("fairlead "+purpose+"\x00"), message...)
}

// Purposes of signatures.
const (
	ForPairing = "pair"
	ForConnect = "connect"
)

// Fingerprint returns the SHA-256 of a public key in hexadecimal.
func Fingerprint(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:])
}

// DeviceID returns the ID of the device with the key.
func DeviceID(key ed25519.PublicKey) protocol.DeviceID {
	return protocol.DeviceID(Fingerprint(key)[:16])
}

// KeyWords returns the first four words of a key.
func KeyWords(key ed25519.PublicKey) []string {
	sum := sha256.Sum256(key)
	return Words(sum[:], ShortWords)
}

// wordText has 256 words, sorted, one for each byte value. They are short, common, and hard to
// confuse when spoken.
//
//go:embed words.txt
var wordText string

var wordList = strings.Fields(wordText)

// Words returns the words for the first n bytes of a hash, so that people can compare them.
func Words(hash []byte, n int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = wordList[hash[i]]
	}
	return words
}

// IsWord reports whether a word is in the list.
func IsWord(word string) bool {
	_, ok := slices.BinarySearch(wordList, word)
	return ok
}
