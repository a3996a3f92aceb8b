package shell

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"fairlead/node/sandbox"
)

func TestVariablesAreNamedWithoutTheirValues(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("SOME_TOKEN", "of nobody")
	t.Setenv("BASH_ENV", "x")
	open := NewJobs(JobOptions{}).Variables()
	if !slices.Contains(open, "SOME_TOKEN") || !slices.Contains(open, "PATH") || slices.Contains(open, "BASH_ENV") || slices.Contains(open, "of nobody") || !slices.IsSorted(open) {
		t.Errorf("got %q; want sorted names with SOME_TOKEN and PATH, without BASH_ENV and values", open)
	}
	contained := NewJobs(JobOptions{Box: &sandbox.Box{}, Env: []string{"DECLARED=1"}, Profile: sandbox.Profile{Mode: sandbox.WorkspaceWrite}})
	if got := contained.Variables(); slices.Contains(got, "SOME_TOKEN") || !slices.Contains(got, "DECLARED") || !slices.Contains(got, "PATH") {
		t.Errorf("of contained commands: got %q, want DECLARED and PATH, and no SOME_TOKEN", got)
	}
	contained.confinement.env = append(contained.confinement.env, "SOME_TOKEN")
	if got := contained.Variables(); !slices.Contains(got, "SOME_TOKEN") {
		t.Errorf(`declared: got %q, want "SOME_TOKEN" in it`, got)
	}
}

func TestVariablesOfTheLoginShellsFilesAreNamed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no login shell")
	}
	etc, home := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		filepath.Join(etc, "profile"):                   "if x; then\n  export IN_ETC=1\nfi\n",
		filepath.Join(etc, "profile.d", "more.sh"):      "MORE=1; export MORE\n",
		filepath.Join(home, ".profile"):                 "# export COMMENTED=1\nexport GH_TOKEN\necho A=b\n",
		filepath.Join(home, ".config/fish/config.fish"): "set -gx FISHY yes\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(home, ".zshrc"), 0o700); err != nil {
		t.Fatal(err)
	}
	got := profileVariables(etc, home)
	slices.Sort(got)
	if want := []string{"FISHY", "GH_TOKEN", "IN_ETC", "MORE"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
