package tools

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/node/workspace"
)

// moduleTree is the module cache with the compiler's sources beside it: over 50,000 files, over 1 GB.
func moduleTree(b *testing.B) []string {
	b.Helper()
	var dirs []string
	for _, name := range []string{"GOMODCACHE", "GOROOT"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			b.Skipf("no Go tree to search: %v", err)
		}
		dirs = append(dirs, filepath.Clean(strings.TrimSpace(string(out))))
	}
	return dirs
}

// referee runs another program of the same meaning; its result does not matter, its time does.
func referee(b *testing.B, program string, args ...string) {
	b.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		b.Skipf("NOT COMPARED: %s is not installed (Debian packages ripgrep and fd-find)", program)
	}
	for b.Loop() {
		_ = exec.Command(path, args...).Run() // 1 says that nothing was found
	}
}

// Each pair of results is to be read together: what the tool takes for a tree, and what ripgrep or fd take.
func BenchmarkSearch(b *testing.B) {
	dirs := moduleTree(b)
	var spaces []*workspace.Root
	for _, dir := range dirs {
		ws, err := workspace.Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { ws.Close() })
		spaces = append(spaces, ws)
	}
	for _, c := range []struct{ name, pattern string }{
		{"literal", "zz_no_such_text_zz"},
		{"common bytes", "tion of the tees"},
		{"letter case", "(?i)zz_no_such_text_zz"},
		{"inner literal", "[a-z]+_zz[0-9]+qq"},
		{"alternatives", "zz_foo|qq_bar|xx_baz"},
		{"no literal", "[A-Z]{5}[0-9]{5}[a-z]{3}"},
		{"words", `\b[A-Z]\d+[a-z]{2}Zq\b`},
		{"anchored", "^zz[0-9]$"},
		{"common word", "func"},
	} {
		b.Run("grep/"+c.name+"/fairlead", func(b *testing.B) {
			for b.Loop() {
				for _, ws := range spaces {
					if _, err := runGrep(b.Context(), ws, grepIn{Pattern: c.pattern}); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
		b.Run("grep/"+c.name+"/ripgrep", func(b *testing.B) {
			referee(b, "rg", append([]string{"-uu", "--no-messages", "--follow", "--line-number", "--no-heading", "-e", c.pattern}, dirs...)...)
		})
	}
	for _, glob := range []string{"**/*.go", "**"} {
		b.Run("glob/"+strings.ReplaceAll(glob, "/", "_")+"/fairlead", func(b *testing.B) {
			for b.Loop() {
				for _, ws := range spaces {
					if _, err := runGlob(b.Context(), ws, globIn{Pattern: glob}, maxGlob); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
		b.Run("glob/"+strings.ReplaceAll(glob, "/", "_")+"/fd", func(b *testing.B) {
			program := "fdfind" // as Debian names it
			if _, err := exec.LookPath("fd"); err == nil {
				program = "fd"
			}
			referee(b, program, append([]string{"--unrestricted", "--hidden", "--absolute-path", "--full-path", "--glob", "/" + glob}, dirs...)...)
		})
	}
}
