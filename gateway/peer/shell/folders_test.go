package shell

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// waysOf spells the ways to the folders of a command.
func waysOf(f Folders) []string {
	if f.Unknown {
		return []string{"unknown"}
	}
	var list []string
	for _, way := range f.Ways {
		steps := []string{"."}
		for _, w := range way {
			steps = append(steps, w.Text)
		}
		list = append(list, strings.Join(steps, " "))
	}
	return list
}

func TestFoldersOfTheLastCommand(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		certain  string // the steps of the certain folder, or unknown
		possible []string
	}{
		"ls":                                 {"", []string{"."}},
		"cd a; ls":                           {"a", []string{".", ". a"}},
		"cd -P -- a && ls":                   {"unknown", []string{".", ". a"}},
		"cd; ls":                             {"unknown", []string{".", ". ~"}},
		"cd a; cd b; ls":                     {"a b", []string{".", ". a", ". b", ". a b"}},
		"cd a; cd /b; ls":                    {"/b", []string{".", ". a", ". /b"}},
		"(cd a); ls":                         {"", []string{".", ". a"}},
		"echo $(cd a; pwd); ls":              {"", []string{".", ". a"}},
		"cd a | cat; ls":                     {"", []string{".", ". a"}},
		"true || cd a; ls":                   {"unknown", []string{".", ". a"}},
		"if true; then cd a; fi; ls":         {"unknown", []string{".", ". a"}},
		"cd a b; ls":                         {"unknown", []string{"unknown"}},
		"cd -; ls":                           {"unknown", []string{"unknown"}},
		"cd $X; ls":                          {"unknown", []string{"unknown"}},
		"cd a*; ls":                          {"unknown", []string{"unknown"}},
		"pushd a; ls":                        {"unknown", []string{"unknown"}},
		"popd; ls":                           {"unknown", []string{"unknown"}},
		"z a; ls":                            {"unknown", []string{"unknown"}},
		"for x in 1 2; do cd a; done; ls":    {"unknown", []string{"unknown"}},
		"cd a; cd b; cd c; cd d; cd e; ls x": {"a b c d e", nil},
	} {
		f := Analyze(text, Bash)
		last := f.Commands[len(f.Commands)-1]
		certain := strings.Join(last.Folder.Steps, " ")
		if last.Folder.Unknown {
			certain = "unknown"
		}
		if certain != want.certain {
			t.Errorf("%q: certain folder: got %q, want %q", text, certain, want.certain)
		}
		got := waysOf(last.Possible)
		if want.possible != nil && !cmp.Equal(got, want.possible) {
			t.Errorf("%q: possible folders (-got +want):\n%s", text, cmp.Diff(got, want.possible))
		}
		if way := strings.TrimSuffix(". "+certain, " "); certain != "unknown" && !last.Possible.Unknown && !slices.Contains(got, way) {
			t.Errorf("%q: the certain folder %q is not among the possible ones %q", text, way, got)
		}
		if !cmp.Equal(waysOf(f.Last), got) {
			t.Errorf("%q: folders at the end (-got +want):\n%s", text, cmp.Diff(waysOf(f.Last), got))
		}
	}
}
