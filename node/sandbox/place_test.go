package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPathIncludesTheTargetsOfItsLinks(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	at := func(path string) string { return filepath.Join(home, filepath.FromSlash(path)) }
	for _, dir := range []string{"dot/config/gh", "dot/aws", ".kube"} {
		if err := os.MkdirAll(at(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{".config": "dot/config", ".aws": "dot/aws", ".gnupg": "nowhere"} {
		if err := os.Symlink(at(to), at(link)); err != nil {
			t.Skip("no links here:", err)
		}
	}
	var led []Place
	for _, p := range Places() {
		if rel, home := strings.CutPrefix(p.Name, "~/"); home && p.Path != at(rel) {
			led = append(led, p)
		}
	}
	if want := []Place{{Name: "~/.aws", Path: at("dot/aws")}, {Name: "~/.config/gh", Path: at("dot/config/gh")}}; !slices.Equal(led, want) {
		t.Errorf("%+v, want %+v", led, want)
	}
}

// BenchmarkPlaces measures the lookup of a preview and a search.
func BenchmarkPlaces(b *testing.B) {
	home := b.TempDir()
	b.Setenv("HOME", home)
	b.Setenv("USERPROFILE", home)
	for _, dir := range []string{".ssh", ".gnupg", ".config/gh", ".local/share/keyrings"} {
		if err := os.MkdirAll(filepath.Join(home, filepath.FromSlash(dir)), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		Places()
	}
}
