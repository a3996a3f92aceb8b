package keychain

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zalando/go-keyring"
)

// realKeyring reports whether to use the desktop's own keychain, in a session that was started for
// tests.
func realKeyring() bool {
	return os.Getenv("FAIRLEAD_IN_BUS") != "" || os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" && os.Getenv("FAIRLEAD_TEST_KEYRING") != ""
}

// mock replaces the keychain until the test ends; if err is not nil, every call returns it.
func mock(t *testing.T, err error) {
	t.Helper()
	was, label := reach, setLabel
	t.Cleanup(func() { reach, setLabel = was, label })
	reach = func() (struct{}, error) { return struct{}{}, nil }
	setLabel = func(string, string) error { return nil }
	if err != nil {
		keyring.MockInitWithError(err)
		return
	}
	keyring.MockInit()
}

// suite tests the behaviour that every store must have.
func suite(t *testing.T, s Store) {
	t.Helper()
	if _, err := s.Get("none"); !errors.Is(err, ErrNotFound) {
		t.Errorf("Get of nothing = %v, want ErrNotFound", err)
	}
	if err := s.Delete("none"); err != nil {
		t.Errorf("Delete of nothing = %v", err)
	}
	for _, v := range []Secret{"one", "two ü \n\"", ""} {
		if err := s.Set("a", v); err != nil {
			t.Fatal(err)
		}
		got, err := s.Get("a")
		if err != nil || got.Reveal() != v.Reveal() {
			t.Errorf("Get = %q, %v; want %q", got.Reveal(), err, v.Reveal())
		}
	}
	if err := s.Set("b", "other"); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete("a"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get("a"); !errors.Is(err, ErrNotFound) {
		t.Errorf("Get after Delete = %v, want error ErrNotFound", err)
	}
	if got, err := s.Get("b"); err != nil || got.Reveal() != "other" {
		t.Errorf("Delete took another secret along: %v, %v", got.Reveal(), err)
	}
}

func TestFileKeepsSecrets(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	dir := t.TempDir()
	s := Open(dir)
	suite(t, s)
	path := filepath.Join(dir, "secrets.json")
	if s.Where() != path {
		t.Errorf("Where = %s, want %s", s.Where(), path)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v, want 0600", info.Mode().Perm())
	}
}

func TestFileOpenToOthersIsClosed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such mode bits")
	}
	t.Setenv("FAIRLEAD_SECRETS", "file")
	dir := t.TempDir()
	path := filepath.Join(dir, "secrets.json")
	if err := os.WriteFile(path, []byte(`{"a":"x"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir).Get("a"); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v, want 0600", info.Mode().Perm())
	}
}

func TestDamagedFileIsNotOverwritten(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	dir := t.TempDir()
	path := filepath.Join(dir, "secrets.json")
	if err := os.WriteFile(path, []byte(`{"a":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Open(dir).Set("b", "x"); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("Set = %v, want an error that names the file", err)
	}
	if data, _ := os.ReadFile(path); string(data) != `{"a":` {
		t.Errorf("the damaged file became %q, want it unchanged", data)
	}
}

func TestKeychainKeepsSecrets(t *testing.T) {
	if !realKeyring() {
		mock(t, nil)
	}
	t.Setenv("FAIRLEAD_SECRETS", "")
	s := Open(t.TempDir())
	if s.Where() != Keychain {
		t.Fatalf("Where = %s, want %s", s.Where(), Keychain)
	}
	suite(t, s)
}

func TestBrokenKeychainFallsBackToTheFile(t *testing.T) {
	mock(t, errors.New("no bus"))
	t.Setenv("FAIRLEAD_SECRETS", "")
	dir := t.TempDir()
	s := Open(dir)
	suite(t, s)
	if s.Where() != filepath.Join(dir, "secrets.json") {
		t.Errorf("Where = %s, want %s", s.Where(), filepath.Join(dir, "secrets.json"))
	}
}

func TestUnusableKeychainFallsBackToTheFile(t *testing.T) {
	if realKeyring() {
		t.Skip("the real keychain takes secrets")
	}
	mock(t, nil)
	t.Setenv("FAIRLEAD_SECRETS", "")
	dir := t.TempDir()
	s := Open(dir)
	if s.Where() != Keychain {
		t.Fatalf("Where = %s, want %s", s.Where(), Keychain)
	}
	mock(t, errors.New("no collection"))
	if err := s.Set("a", "new"); err != nil {
		t.Fatal(err)
	}
	if s.Where() != filepath.Join(dir, "secrets.json") {
		t.Errorf("Where = %s, want %s", s.Where(), filepath.Join(dir, "secrets.json"))
	}

	mock(t, nil) // the next start: the keychain is available again
	s = Open(dir)
	if got, err := s.Get("a"); err != nil || got.Reveal() != "new" {
		t.Errorf(`Get = %v, %v: what was set meanwhile is lost; want no error and Reveal "new"`, got.Reveal(), err)
	}
	if err := s.Set("a", "newer"); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Get("a"); err != nil || got.Reveal() != "newer" || s.Where() != Keychain {
		t.Errorf(`Get = %v, %v in %s; want no error, got.Reveal "newer" and s.Where %v`, got.Reveal(), err, s.Where(), Keychain)
	}
	if data, _ := os.ReadFile(filepath.Join(dir, "secrets.json")); strings.Contains(string(data), "new") {
		t.Errorf("the file still holds it: %s", data)
	}
}

func TestSilentKeychainIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		defer close(answer)
		start := time.Now()
		_, err := withTimeout(func() (string, error) { <-answer; return "", nil })
		if !errors.Is(err, errSilent) || time.Since(start) != Patience {
			t.Errorf("got error %v after %v; want a silent keychain after %v", err, time.Since(start), Patience)
		}
	})
}

func TestManyUseTheFileAtOnce(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	s := Open(t.TempDir())
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if err := s.Set(fmt.Sprint(i), "x"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i := range 20 {
		if _, err := s.Get(fmt.Sprint(i)); err != nil {
			t.Errorf("secret %d: %v", i, err)
		}
	}
}

func TestSecretsDoNotShow(t *testing.T) {
	s := Secret("hunter2")
	raw, err := json.Marshal(map[string]any{"s": s})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %s %q", s, s, s, s, s), string(raw), s.LogValue().String()} {
		if strings.Contains(text, "hunter2") {
			t.Errorf("shown in %q", text)
		}
	}
}

func TestSecretsHaveReadableLabels(t *testing.T) {
	for name, want := range map[string]string{
		"key-anthropic": "Fairlead: Anthropic key", "key-openai": "Fairlead: OpenAI key", "key-mistral": "Fairlead: Mistral key",
		"gateway-token": "Fairlead: gateway token", "device-key": "Fairlead: device key", "key-": "Fairlead: key ",
	} {
		t.Run(name, func(t *testing.T) {
			if got := label(name); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
