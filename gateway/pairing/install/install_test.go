package install

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"fairlead/gateway/peer/identity"
)

func get(t *testing.T, url string) (int, string, http.Header) {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body), res.Header
}

func TestGatewayWithoutNodeProgramsExplainsIt(t *testing.T) {
	dir := t.TempDir()
	srv := httptest.NewServer(New(func() identity.Pin { return "" }, Beside(filepath.Join(dir, "fairlead"))...))
	defer srv.Close()
	for _, path := range []string{"/install.sh", "/install.ps1", "/install/fairlead-node-linux-arm64"} {
		if code, body, _ := get(t, srv.URL+path); code != 404 || !strings.Contains(body, "nodes there") {
			t.Errorf("%s: got status %d, %s, want 404 with the reason", path, code, body)
		}
	}
}

func TestOnlyNodeProgramsAreServed(t *testing.T) {
	dir := t.TempDir()
	os.MkdirAll(filepath.Join(dir, "nodes", "fairlead-node-plan9-mips"), 0o755)
	for _, name := range []string{"fairlead.db", "nodes/fairlead-node-linux-arm64", "nodes/secrets.json", "nodes/fairlead-node-windows-amd64.exe", "fairlead-node"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	srv := httptest.NewServer(New(func() identity.Pin { return "" }, Beside(filepath.Join(dir, "fairlead"))...))
	defer srv.Close()
	for path, want := range map[string]int{
		"fairlead-node-linux-arm64": 200, "fairlead-node-windows-amd64.exe": 200, "fairlead.db": 404, "secrets.json": 404,
		"../fairlead.db": 404, "fairlead-node-plan9-mips": 404, "..%2ffairlead.db": 404, "": 404,
	} {
		if code, _, _ := get(t, srv.URL+"/install/"+path); code != want {
			t.Errorf("%s: %d, want %d", path, code, want)
		}
	}
	_, body, header := get(t, srv.URL+"/install/fairlead-node-linux-arm64")
	if hash := sha256.Sum256([]byte(body)); header.Get("X-Content-SHA256") != hex.EncodeToString(hash[:]) {
		t.Errorf("got hash %s, want that of the program", header.Get("X-Content-SHA256"))
	}
	req, _ := http.NewRequest(http.MethodGet, srv.URL+"/install.sh", nil)
	req.Host = "x';rm:1"
	if res, err := http.DefaultClient.Do(req); err == nil && res.StatusCode == http.StatusOK {
		t.Error("a host name got into the script")
	}
}

// TestScriptInstallsOnlyTheShippedProgram runs the real script with the real curl.
func TestScriptInstallsOnlyTheShippedProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the script is for Unix")
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl to download with:", err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "fairlead-node")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho node\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	changed := false
	files := New(func() identity.Pin { return "" }, Beside(filepath.Join(dir, "fairlead"))...)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if changed && strings.HasPrefix(r.URL.Path, "/install/") {
			w.Write([]byte("something else"))
			return
		}
		files.ServeHTTP(w, r)
	}))
	defer srv.Close()
	_, script, _ := get(t, srv.URL+"/install.sh")
	bin := filepath.Join(dir, "bin")
	run := func() (string, error) {
		cmd := exec.Command("sh")
		cmd.Stdin = strings.NewReader(script)
		cmd.Env = append(os.Environ(), "FAIRLEAD_BIN="+bin)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		return out.String(), err
	}
	changed = true
	if out, err := run(); err == nil || !strings.Contains(out, "nothing was installed") {
		t.Errorf("a changed program: got error %v, want that nothing was installed\n%s", err, out)
	}
	if left, _ := os.ReadDir(bin); len(left) != 0 {
		t.Errorf("got leftovers %v, want none", left)
	}
	changed = false
	if out, err := run(); err != nil || !strings.Contains(out, "--pair LINK") {
		t.Errorf("got error %v, want the command to pair\n%s", err, out)
	}
	if out, err := exec.Command(filepath.Join(bin, "fairlead-node")).Output(); err != nil || string(out) != "node\n" {
		t.Errorf("got %s, error %v, want node", out, err)
	}

	// The printed line can be typed unchanged, whatever the folder's name.
	bin = filepath.Join(dir, "my friend's $(bin)")
	out, err := run()
	_, line, _ := strings.Cut(out, "shows at the gateway:")
	line, _, _ = strings.Cut(line, " --pair")
	if typed, e := exec.Command("sh", "-c", line).CombinedOutput(); err != nil || e != nil || string(typed) != "node\n" {
		t.Errorf("got error %v, %s, typed: %s, error %v, want node", err, out, typed, e)
	}

	// Nothing of a truncated script runs.
	whole := script
	bin = filepath.Join(dir, "cut")
	for i := range strings.TrimSpace(whole) {
		if whole[i] != '\n' {
			continue
		}
		script = whole[:i]
		out, _ := run()
		if _, err := os.Stat(bin); err == nil {
			t.Fatalf("cut off after %q: got a folder, want nothing done: %s", script[max(0, i-40):], out)
		}
	}
}
