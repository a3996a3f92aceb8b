package workspace

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRealPathFollowsLinksAsFarAsThereIsSomething(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(rel string) string { return filepath.Join(dir, filepath.FromSlash(rel)) }
	if err := os.MkdirAll(at("dot/config/gh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("dot/netrc"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{".config": "dot/config", ".netrc": "dot/netrc", ".aws": "nowhere"} {
		if err := os.Symlink(at(to), at(link)); err != nil {
			t.Skip("no links here:", err)
		}
	}
	if real := RealPath(filepath.VolumeName(dir) + separator); real == "" {
		t.Error("the root has no path")
	}
	for path, want := range map[string]string{
		"dot/config": "dot/config", ".config": "dot/config", ".config/gh": "dot/config/gh", ".config/op/x": "dot/config/op/x", ".netrc": "dot/netrc",
		".netrc/x": "dot/netrc/x", ".aws": ".aws", ".aws/x": ".aws/x", "none/x/y": "none/x/y",
	} {
		t.Run(path, func(t *testing.T) {
			if real := RealPath(at(path)); real != at(want) {
				t.Errorf("%s: got %s, want %s", path, real, at(want))
			}
		})
	}
}
