package secret

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"
)

// suite is what every store must do.
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
		t.Errorf("Get after Delete = %v", err)
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
		t.Errorf("Where = %s", s.Where())
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
		t.Errorf("the damaged file became %q", data)
	}
}

func TestKeychainKeepsSecrets(t *testing.T) {
	if os.Getenv("FAIRLEAD_IN_BUS") == "" { // inside a desktop session the real keychain is used
		keyring.MockInit()
	}
	t.Setenv("FAIRLEAD_SECRETS", "")
	s := Open(t.TempDir())
	if s.Where() != Keychain {
		t.Fatalf("Where = %s", s.Where())
	}
	suite(t, s)
}

func TestBrokenKeychainGivesWayToTheFile(t *testing.T) {
	keyring.MockInitWithError(errors.New("no bus"))
	t.Setenv("FAIRLEAD_SECRETS", "")
	dir := t.TempDir()
	s := Open(dir)
	suite(t, s)
	if s.Where() != filepath.Join(dir, "secrets.json") {
		t.Errorf("Where = %s", s.Where())
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
