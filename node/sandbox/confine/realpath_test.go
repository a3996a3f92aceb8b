package confine

import (
	"os"
	"path/filepath"
	"testing"
)

func TestResolverFollowsLinksAsFarAsThereIsSomething(t *testing.T) {
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
	type resolved struct {
		real  string
		there bool
	}
	var r Resolver
	if real, there := r.Resolve(filepath.VolumeName(dir) + string(filepath.Separator)); !there || real == "" {
		t.Errorf("the root: got %q, %v, want it to be there", real, there)
	}
	for range 2 { // the second time from what it remembers
		for path, want := range map[string]resolved{
			"dot/config":   {"dot/config", true},
			".config":      {"dot/config", true},
			".config/gh":   {"dot/config/gh", true},
			".config/op/x": {"dot/config/op/x", false},
			".netrc":       {"dot/netrc", true},
			".netrc/x":     {"dot/netrc/x", false},
			".aws":         {".aws", false},
			".aws/x":       {".aws/x", false},
			"none/x/y":     {"none/x/y", false},
		} {
			if real, there := r.Resolve(at(path)); real != at(want.real) || there != want.there {
				t.Errorf("%s: got %s, %v, want %s, %v", path, real, there, at(want.real), want.there)
			}
		}
	}
}
