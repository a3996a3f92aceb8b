package keychain

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zalando/go-keyring"
)

// Patience is how long the keychain may take to answer. A locked one waits for a person who may not be there.
const Patience = 3 * time.Second

// Open returns the secrets that belong to the data folder dir. Nothing is touched before the first use: then the keychain is probed,
// and when it does not answer within [Patience] the file dir/secrets.json is used until the program ends. FAIRLEAD_SECRETS=file
// chooses the file at once. A keychain that answers and then takes no secret (it is locked, or has no collection yet) gives way too.
//
// What the file holds counts before what the keychain holds, and leaves the file when the keychain takes it: a secret that was set
// while the keychain was away is found again, by every program of this data folder.
//
// Each data folder has a keychain service of its own, so that a second home or a test never meets another's secrets; the
// folder that FAIRLEAD_HOME's absence means has the plain service name.
func Open(dir string) Store {
	service := "fairlead"
	if os.Getenv("FAIRLEAD_HOME") != "" {
		if abs, err := filepath.Abs(dir); err == nil {
			dir = abs
		}
		sum := sha256.Sum256([]byte(dir))
		service += ":" + hex.EncodeToString(sum[:4])
	}
	return &chosen{keychain: &keychain{service: service}, file: &file{path: filepath.Join(dir, "secrets.json")}}
}

// reach is reachable, but in tests with a keychain that is none.
var reach = func() (struct{}, error) { return struct{}{}, reachable() }

// chosen picks the keychain or the file at its first use.
type chosen struct {
	keychain *keychain
	file     *file
	once     sync.Once
	away     atomic.Bool // the keychain is not used
}

func (c *chosen) probe() (away bool) {
	c.once.Do(func() {
		if os.Getenv("FAIRLEAD_SECRETS") == "file" {
			c.away.Store(true)
		} else if _, err := limited(reach); err != nil {
			c.giveUp(err)
		} else if _, err := c.keychain.Get("probe"); err != nil && !errors.Is(err, ErrNotFound) {
			c.giveUp(err)
		}
	})
	return c.away.Load()
}

func (c *chosen) giveUp(err error) {
	slog.Warn("No keychain answers, secrets are kept in a file", "path", c.file.path, "err", err)
	c.away.Store(true)
}

func (c *chosen) Get(name string) (Secret, error) {
	away := c.probe()
	v, err := c.file.Get(name)
	if away || !errors.Is(err, ErrNotFound) {
		return v, err
	}
	return c.keychain.Get(name)
}

func (c *chosen) Set(name string, value Secret) error {
	if !c.probe() {
		err := c.keychain.Set(name, value)
		if err == nil {
			return c.file.Delete(name)
		}
		c.giveUp(err)
	}
	return c.file.Set(name, value)
}

func (c *chosen) Delete(name string) error {
	away := c.probe()
	if err := c.file.Delete(name); err != nil || away {
		return err
	}
	return c.keychain.Delete(name)
}

func (c *chosen) Where() string {
	if c.probe() {
		return c.file.Where()
	}
	return c.keychain.Where()
}

// keychain is the system's: Secret Service, macOS Keychain, Windows Credential Manager.
type keychain struct{ service string }

var errSilent = errors.New("the keychain does not answer; it may be locked")

// limited runs f, but not longer than Patience. A call that hangs keeps its goroutine until the keychain answers: the library
// cannot be interrupted.
func limited[T any](f func() (T, error)) (T, error) {
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f()
		done <- result{v, err}
	}()
	timer := time.NewTimer(Patience)
	defer timer.Stop()
	select {
	case r := <-done:
		return r.v, r.err
	case <-timer.C:
		var zero T
		return zero, errSilent
	}
}

func (k *keychain) Get(name string) (Secret, error) {
	v, err := limited(func() (string, error) { return keyring.Get(k.service, name) })
	if errors.Is(err, keyring.ErrNotFound) {
		return "", ErrNotFound
	}
	return Secret(v), err
}

func (k *keychain) Set(name string, value Secret) error {
	_, err := limited(func() (struct{}, error) { return struct{}{}, keyring.Set(k.service, name, value.Reveal()) })
	return err
}

func (k *keychain) Delete(name string) error {
	_, err := limited(func() (struct{}, error) { return struct{}{}, keyring.Delete(k.service, name) })
	if errors.Is(err, keyring.ErrNotFound) {
		return nil
	}
	return err
}

func (k *keychain) Where() string { return Keychain }
