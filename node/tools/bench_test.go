package tools

import (
	"context"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"fairlead/gateway/protocol/tool"
	"fairlead/node/workspace"
)

// goTree is the source tree that came with the compiler: some 15,000 files.
func goTree(b *testing.B) *bench {
	b.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skipf("no Go tree to search: %v", err)
	}
	ws, err := workspace.Open(filepath.Clean(string(out[:len(out)-1])))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { ws.Close() })
	jobs := NewJobs(nil)
	b.Cleanup(jobs.Close)
	tools := map[string]tool.Tool{}
	for _, tl := range All(ws, jobs) {
		tools[tl.Spec.Name] = tl
	}
	return &bench{t: b, ws: ws, jobs: jobs, tools: tools}
}

func BenchmarkGrep(b *testing.B) {
	w := goTree(b)
	for name, pattern := range map[string]string{
		"LiteralWithoutMatch": "zz_no_such_text_zz", "RegexWithoutMatch": "[a-z]+_zz[0-9]+qq", "CommonWord": "func", "AnchoredWithoutMatch": "^zz[0-9]$",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := runGrep(context.Background(), w.ws, grepIn{Pattern: pattern}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkGlob(b *testing.B) {
	w := goTree(b)
	for b.Loop() {
		if _, err := runGlob(context.Background(), w.ws, globIn{Pattern: "**/*.go"}, maxGlob); err != nil {
			b.Fatal(err)
		}
	}
}

// The two differ by what Bash adds to the bare shell.
func BenchmarkBash(b *testing.B) {
	if runtime.GOOS == "windows" {
		b.Skip("no sh to compare with")
	}
	b.Setenv("SHELL", "/bin/sh")
	w := newBench(b)
	b.Run("True", func(b *testing.B) {
		for b.Loop() {
			if _, err := runBash(context.Background(), w.ws, w.jobs, bashIn{Command: "true"}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("BareShTrue", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("/bin/sh", "-lc", "true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Output", func(b *testing.B) {
		b.SetBytes(100_000_000)
		for b.Loop() {
			if _, err := runBash(context.Background(), w.ws, w.jobs, bashIn{Command: "head -c 100000000 /dev/zero"}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
