//go:build unix

package provision

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/provision/contract"
)

func TestAProviderThatBreaksTheContractFails(t *testing.T) {
	dir := t.TempDir()
	f := Folder(dir)
	for name, c := range map[string]struct{ script, want string }{
		"text":    {`echo hello`, "instead of a line of JSON"},
		"nothing": {`true`, "without a line with done or error"},
		"code":    {`echo '{"progress":"x"}'; echo no disk >&2; exit 3`, "no disk"},
		"error":   {`echo '{"error":"quota of hunter2-secret"}'; exit 1`, "quota of …"},
		"after":   {`echo '{"done":true}'; echo '{"progress":"x"}'`, "after its last one"},
		"late":    {`echo '{"done":true}'; exit 1`, "exit status 1"},
		"long":    {`head -c 300000 /dev/zero | tr '\0' a`, "could not be read"},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+c.script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		r := contract.Request{Action: contract.Status, NodeName: "web-1", Settings: map[string]string{"password": "hunter2-secret"}}
		if _, err := f.Run(t.Context(), name, r, nil, func(contract.Line) {}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	for file, mode := range map[string]os.FileMode{"README": 0o600, "Upper": 0o700, "data": 0o600, "a.sh": 0o700} {
		if err := os.WriteFile(filepath.Join(dir, file), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := f.Names(), []string{"after", "code", "error", "late", "long", "nothing", "text"}; !slices.Equal(got, want) {
		t.Errorf("got providers %v, want %v", got, want)
	}
}

func TestSecretsReachAProviderOnItsStandardInputOnly(t *testing.T) {
	t.Setenv("FAIRLEAD_TOKEN", "hunter2-secret")
	dir := t.TempDir()
	script := "#!/bin/sh\ncat >input\nenv >environment\necho \"$*\" >arguments\necho '{\"done\":true}'\n"
	if err := os.WriteFile(filepath.Join(dir, "x"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	r := contract.Request{Action: contract.Create, Settings: map[string]string{"password": "hunter2-secret"}}
	if _, err := Folder(dir).Run(t.Context(), "x", r, nil, func(contract.Line) {}); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]bool{"input": true, "environment": false, "arguments": false} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if got := strings.Contains(string(text), "hunter2-secret"); err != nil || got != want {
			t.Errorf("%s: got the secret %v, error %v, want %v", file, got, err, want)
		}
	}
}
