package keychain

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zalando/go-keyring"

	"fairlead/gateway/peer/crash"
)

// Patience is the time limit for an answer from the keychain. A locked one waits for a person, who
// may not be there.
const Patience = 3 * time.Second

// Open returns the secrets of the data folder dir. Nothing is accessed before the first use. Then
// the keychain is probed; if it does not answer within [Patience], the file dir/secrets.json is
// used until the program ends. FAIRLEAD_SECRETS=file selects the file at once. A keychain that
// answers but cannot store a secret (it is locked, or has no collection yet) is given up too.
//
// A secret in the file takes precedence over the keychain, and is deleted from the file when the
// keychain stores it. So a secret that was set while the keychain was unavailable is found by every
// program of this data folder.
//
// Each data folder has its own keychain service, so that a second installation or a test never sees
// another's secrets. Without FAIRLEAD_HOME, the service has the plain name.
func Open(dir string) Store {
	service := "fairlead"
	if os.Getenv("FAIRLEAD_HOME") != "" {
		if abs, err := filepath.Abs(dir); err == nil {
			dir = abs
		}
		sum := sha256.Sum256([]byte(dir))
		service += ":" + hex.EncodeToString(sum[:4])
	}
	return &chosen{keychain: &keychain{service: service}, file: newFile(dir)}
}

// OpenFile returns the secrets in the file of the data folder dir, without the keychain.
func OpenFile(dir string) Store { return newFile(dir) }

func newFile(dir string) *file { return &file{path: filepath.Join(dir, "secrets.json")} }

// reach is reachable; tests with a fake keychain replace it.
var reach = func() (struct{}, error) { return struct{}{}, reachable() }

// chosen chooses the keychain or the file at its first use.
type chosen struct {
	keychain *keychain
	file     *file
	once     sync.Once
	away     atomic.Bool // the keychain is unavailable
}

func (c *chosen) probe() (away bool) {
	c.once.Do(func() {
		if os.Getenv("FAIRLEAD_SECRETS") == "file" {
			c.away.Store(true)
		} else if _, err := withTimeout(reach); err != nil {
			c.giveUp(err)
		} else if _, err := c.keychain.Get("probe"); err != nil && !errors.Is(err, ErrNotFound) {
			c.giveUp(err)
		}
	})
	return c.away.Load()
}

func (c *chosen) giveUp(err error) {
	slog.Warn("The keychain is unavailable, secrets are stored in a file", "path", c.file.path, "err", err)
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
	if !c.probe() { // first, or an older secret of the keychain could take the place of the file's
		if err := c.keychain.Delete(name); err != nil {
			return err
		}
	}
	return c.file.Delete(name)
}

func (c *chosen) Where() string {
	if c.probe() {
		return c.file.Where()
	}
	return c.keychain.Where()
}

// keychain is the system's keychain: Secret Service, macOS Keychain or Windows Credential Manager.
type keychain struct{ service string }

var errSilent = errors.New("the keychain does not answer; it may be locked")

// withTimeout runs f for at most Patience. The library cannot be interrupted, so a call that hangs
// blocks its goroutine until the keychain answers.
func withTimeout[T any](f func() (T, error)) (T, error) {
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	crash.Go(func() {
		var r result
		r.err = crash.Call("keychain", func() (err error) {
			r.v, err = f()
			return err
		})
		done <- r
	})
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
	v, err := withTimeout(func() (string, error) { return keyring.Get(k.service, name) })
	if errors.Is(err, keyring.ErrNotFound) {
		return "", ErrNotFound
	}
	return Secret(v), err
}

func (k *keychain) Set(name string, value Secret) error {
	_, err := withTimeout(func() (struct{}, error) {
		if err := keyring.Set(k.service, name, value.Reveal()); err != nil {
			return struct{}{}, err
		}
		if err := setLabel(k.service, name); err != nil {
			slog.Info("Labelling a secret in the keychain failed", "name", name, "err", err)
		}
		return struct{}{}, nil
	})
	return err
}

func (k *keychain) Delete(name string) error {
	_, err := withTimeout(func() (struct{}, error) { return struct{}{}, keyring.Delete(k.service, name) })
	if errors.Is(err, keyring.ErrNotFound) {
		return nil
	}
	return err
}

func (k *keychain) Where() string { return Keychain }

// Home returns the folder for all data of Fairlead: FAIRLEAD_HOME, or else the system's folder for
// user data.
func Home() (string, error) {
	if h := os.Getenv("FAIRLEAD_HOME"); h != "" {
		return filepath.Abs(h)
	}
	find, parts := os.UserHomeDir, []string{".local", "share", "fairlead"}
	switch runtime.GOOS {
	case "windows", "darwin":
		find, parts = os.UserConfigDir, []string{"Fairlead"} // %AppData%, ~/Library/Application Support
	default:
		if h := os.Getenv("XDG_DATA_HOME"); h != "" {
			return filepath.Join(h, "fairlead"), nil
		}
	}
	dir, err := find()
	if err != nil {
		return "", fmt.Errorf("find the folder for user data: %w", err)
	}
	return filepath.Join(append([]string{dir}, parts...)...), nil
}
