package sandbox_test

import (
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/sandbox"
	"fairlead/node/workspace"
)

//go:embed testdata/secrets.txt
var secretTable string

// minSecretWays is the number of ways to read a secret that a machine of the project must be able
// to try.
const minSecretWays = 100

// canary is the content of every secret, and of a variable of the node.
const canary = "canary-7f3a9c"

// canaries are the forms in which it is found.
var canaries = func() []string {
	reversed := []byte(canary)
	slices.Reverse(reversed)
	line := []byte(canary + "\n")
	return []string{canary, string(reversed), base64.StdEncoding.EncodeToString(line)[:16], hex.EncodeToString([]byte(canary))}
}()

// secretStore has secrets: in the home folder, in the node's own one, and by rules in the
// workspace.
type secretStore struct {
	*playground
	secrets []string // absolute paths
	node    *exec.Cmd
	free    tool // runs commands with full access
}

// homeFiles are secrets in a home folder.
var homeFiles = []string{
	".ssh/id_ed25519", ".aws/credentials", ".tsh/keys/key.pem", ".local/share/keyrings/login.keyring", ".config/google-chrome/Default/Cookies",
	".mozilla/firefox/p/logins.json", ".fairlead/secrets.json", ".gnupg/private-keys-v1.d/x.key", ".kube/config", ".docker/config.json", ".password-store/x.gpg",
}

// hiddenFiles are in the workspace and hidden by rules.
var hiddenFiles = []string{"secret/token", "certificates/app.key"}

func newSecretStore(t *testing.T, mode escapeMode) *secretStore {
	s := &secretStore{playground: newPlayground(t, mode.missing)}
	for _, rel := range homeFiles {
		s.secrets = append(s.secrets, filepath.Join(os.Getenv("HOME"), rel))
	}
	s.secrets = append(s.secrets, filepath.Join(s.own, "data", "secrets.json"))
	if mode.isKept {
		for _, rel := range hiddenFiles {
			s.secrets = append(s.secrets, filepath.Join(s.ws.Dir(), rel))
		}
	}
	s.free = s.openTool(sandbox.Profile{Mode: sandbox.Full}, nil)
	s.node = exec.Command("sleep", "999")
	s.node.Env = append(os.Environ(), "TOKEN="+canary)
	if err := s.node.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.node.Process.Kill()
		s.node.Wait()
	})
	return s
}

// plant writes the secrets, which a command with full access may have moved.
func (s *secretStore) plant() {
	for _, path := range s.secrets {
		dir := filepath.Dir(path)
		os.Chmod(dir, 0o700)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			s.Error(err)
		}
		if err := os.WriteFile(path, []byte(canary+"\n"), 0o600); err != nil {
			s.Error(err)
		}
	}
}

// leak returns where the secret is in the output of a command or in the workspace.
func (s *secretStore) leak(out answer) (where string) {
	if contains(out.Output) {
		return "the output"
	}
	filepath.WalkDir(s.ws.Dir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || slices.Contains(s.secrets, path) {
			return nil
		}
		if data, err := os.ReadFile(path); err == nil && contains(string(data)) {
			where = path
		}
		return nil
	})
	return where
}

func contains(text string) bool {
	return slices.ContainsFunc(canaries, func(c string) bool { return strings.Contains(text, c) })
}

// try makes one attempt, after a trial with full access if that must succeed.
func (s *secretStore) try(w way, turn int, mode escapeMode, y *outcomes) {
	if missing := w.missing(); len(missing) > 0 {
		y.unavailable = append(y.unavailable, w.name)
		return
	}
	secret := s.secrets[turn%len(s.secrets)]
	command := "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin; export S=" + secret + " D=" + filepath.Dir(secret) + " N=" + filepath.Base(secret) +
		" H=" + os.Getenv("HOME") + " P=" + strconv.Itoa(s.node.Process.Pid) + "\n" + w.command
	rules := &protocol.CommandRules{Hidden: []string{filepath.Join(s.ws.Dir(), "secret"), s.ws.Dir() + "/**/*.key"}}
	s.plant()
	if !strings.HasPrefix(w.target, "try") && !mode.isKept {
		if out := s.call(s.free, command, access.Call{}); s.leak(out) == "" {
			y.idle = append(y.idle, fmt.Sprintf("%s does not read %s: %.300s", w.name, secret, out.Output))
		}
		s.reset()
		s.plant()
	}
	out := s.call(s.bash, command, access.Call{Rules: rules})
	where := s.leak(out)
	s.reset()
	y.ran++
	if where != "" {
		y.lost = append(y.lost, fmt.Sprintf("%s on %s: the secret is in %s: %.300s", w.name, secret, workspace.Spell(where), out.Output))
		return
	}
	y.kept++
}

// TestNoCommandReadsASecret tries the ways of secrets.txt to read a secret, as commands that were
// allowed.
func TestNoCommandReadsASecret(t *testing.T) {
	list := parseWays(t, secretTable)
	for _, mode := range escapeModes("try", "trypro") {
		t.Run(mode.name, func(t *testing.T) {
			s, y := newSecretStore(t, mode), &outcomes{}
			mode.needs(t, s.box)
			for i, w := range list {
				if mode.only(w) {
					s.try(w, i, mode, y)
				}
			}
			y.report(t, minSecretWays, mode)
		})
	}
}

// TestNoCommandOfAnOrdinaryUserReadsASecret repeats it as a user without rights.
func TestNoCommandOfAnOrdinaryUserReadsASecret(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("TestNoCommandReadsASecret has run as an ordinary user already")
	}
	runAsNobody(t, "TestNoCommandReadsASecret")
}
