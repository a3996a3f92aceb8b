//go:build unix

package baseline

import (
	"crypto/sha256"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestEnvironmentsAreKnownByTheirFile(t *testing.T) {
	k := newKit(t)
	k.write("env/pyvenv.cfg", "home = /usr/bin\n")
	k.write("env/bin/python3", "old")
	k.write("env/lib/python3.13/site-packages/a.pth", "old")
	run := k.Begin(Command{ID: "1"})
	k.write("env/pyvenv.cfg", "")
	k.write("env/bin/python3", "evil")
	k.write("env/bin/ls", "evil")
	k.expect(run.End(), map[string]string{"env/bin/python3": protocol.ProtectedChanged, "env/bin/ls": protocol.ProtectedCreated})
	k.check(map[string]string{"env/bin/python3": "old", "env/bin/ls": ""})
	run = k.Begin(Command{ID: "2"})
	if err := os.RemoveAll(k.at("env")); err != nil {
		t.Fatal(err)
	}
	k.expect(run.End(), map[string]string{})
}

func TestFilesThatDirenvReadsAreReverted(t *testing.T) {
	k := newKit(t)
	k.write(".direnv/flake-profile-a.rc", "old")
	k.write(".direnv/python-3.13/bin/python", "old")
	k.write(".direnv/cache/x", "old")
	run := k.Begin(Command{ID: "1"})
	k.write(".direnv/flake-profile-a.rc", "evil")
	k.write(".direnv/python-3.13/bin/ls", "evil")
	k.write(".direnv/cache/x", "new")
	k.expect(run.End(), map[string]string{".direnv/flake-profile-a.rc": protocol.ProtectedChanged, ".direnv/python-3.13/bin/ls": protocol.ProtectedCreated})
}

// pnpmStarter is what pnpm writes into node_modules/.bin.
func pnpmStarter(target, modules string) string {
	return "#!/bin/sh\nbasedir=$(dirname \"$0\")\nexport NODE_PATH=\"" + modules + "\"\nexec node  \"$basedir/" + target + "\" \"$@\"\n"
}

func TestProgramsOfPackagesChangeOnlyWithTheirPackage(t *testing.T) {
	record := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "../../../bin/tool,sha256=" + base64.RawURLEncoding.EncodeToString(sum[:]) + ",8\n"
	}
	const metadata = ".venv/lib/python3.13/site-packages/tool-1.dist-info/RECORD"
	old := pnpmStarter("../p/a.js", "/w/node_modules/.pnpm/p@1/node_modules")
	for name, c := range map[string]struct {
		file, before, after string
		links, isReverted   bool
		other               [2]string // another file that the command writes
	}{
		"wheel":            {file: ".venv/bin/tool", before: "old", after: "new tool", other: [2]string{metadata, record("new tool")}},
		"not of a wheel":   {file: ".venv/bin/tool", before: "old", after: "evil", other: [2]string{metadata, record("new tool")}, isReverted: true},
		"entry point":      {file: ".venv/bin/tool", before: "old", after: "#!DIR/.venv/bin/python3\nfrom a import b\nsys.exit(b())\n"},
		"another program":  {file: "node_modules/.bin/tool", before: "old", after: "evil", isReverted: true},
		"new program":      {file: "node_modules/.bin/tool", after: "new"},
		"pnpm":             {file: "node_modules/.bin/tool", before: old, after: pnpmStarter("../p/b.js", "/w/node_modules/.pnpm/p@2/node_modules")},
		"pnpm to outside":  {file: "node_modules/.bin/tool", before: old, after: pnpmStarter("../../evil.js", "/w/node_modules"), isReverted: true},
		"pnpm and a path":  {file: "node_modules/.bin/tool", before: old, after: pnpmStarter("../p/a.js", "/w/evil"), isReverted: true},
		"pnpm and a word":  {file: "node_modules/.bin/tool", before: old, after: old + "evil\n", isReverted: true},
		"npm":              {file: "node_modules/.bin/tool", before: "../p/a.js", after: "../p/b.js", links: true, other: [2]string{"node_modules/p/package.json", `{"bin":{"tool":"./b.js"}}`}},
		"npm, one program": {file: "node_modules/.bin/tool", before: "../p/a.js", after: "../p/b.js", links: true, other: [2]string{"node_modules/p/package.json", `{"bin":"b.js"}`}},
		"npm, folder":      {file: "node_modules/.bin/tool", before: "../p/a.js", after: "../p/b/c.js", links: true, other: [2]string{"node_modules/p/package.json", `{"directories":{"bin":"b"}}`}},
		"another link":     {file: "node_modules/.bin/tool", before: "../p/a.js", after: "../p/b.js", links: true, other: [2]string{"node_modules/p/package.json", `{"bin":{"tool":"a.js"}}`}, isReverted: true},
		"link to no file":  {file: "node_modules/.bin/tool", before: "../p/a.js", after: "../q/b.js", links: true, isReverted: true},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			put := func(text string) {
				if os.Remove(k.at(c.file)); !c.links {
					k.write(c.file, strings.ReplaceAll(text, "DIR", k.dir))
				} else if err := os.Symlink(text, k.at(c.file)); err != nil {
					t.Fatal(err)
				}
			}
			k.write(filepath.Join(filepath.Dir(c.file), "x"), "x")
			if c.before != "" {
				put(c.before)
			}
			run := k.Begin(Command{ID: "1"})
			put(c.after)
			if c.other[0] != "" {
				k.write(c.other[0], c.other[1])
			}
			want := map[string]string{}
			if c.isReverted {
				want[c.file] = protocol.ProtectedChanged
			}
			k.expect(run.End(), want)
		})
	}
}

func TestRepositoriesInCrowdedFoldersAreChecked(t *testing.T) {
	k := newKit(t)
	k.write("_deps/a-src/.git/HEAD", "ref: refs/heads/main")
	k.write("_deps/a-src/.git/config", "[core]\n")
	k.write("node_modules/p/index.js", "x")
	run := k.Begin(Command{ID: "1"})
	k.write("_deps/a-src/.git/config", "[core]\n\tfsmonitor = evil\n")
	k.write("_deps/a-src/.git/hooks/post-checkout", "evil")
	k.write("_deps/b-src/.git/HEAD", "ref: refs/heads/main")
	k.write("_deps/b-src/.git/config", "[remote \"origin\"]\n\turl = https://example.com/b\n")
	k.write("node_modules/p/.git/hooks/pre-commit", "evil")
	k.write("node_modules/p/index.js", "new")
	k.expect(run.End(), map[string]string{
		"_deps/a-src/.git/config": protocol.ProtectedChanged, "_deps/a-src/.git/hooks/post-checkout": protocol.ProtectedCreated, "node_modules/p/.git/hooks/pre-commit": protocol.ProtectedCreated,
	})
	run = k.Begin(Command{ID: "2"})
	if err := os.RemoveAll(k.at("_deps")); err != nil {
		t.Fatal(err)
	}
	k.expect(run.End(), nil)
}
