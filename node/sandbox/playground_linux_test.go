package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/baseline"
	"fairlead/node/floor"
	"fairlead/node/sandbox"
	"fairlead/node/shell"
	"fairlead/node/workspace"
)

// playground is a workspace with a Git repository and protected files, in which commands run as a
// node runs them, and which can be reset quickly.
type playground struct {
	*testing.T
	ws       *workspace.Root
	own      string // the node's folder
	box      *sandbox.Box
	bash     tool
	template map[string]entry // by paths relative to the workspace
}

// tool is the tool Bash of a node.
type tool func(context.Context, access.Call, json.RawMessage) (json.RawMessage, error)

// entry is a file, a folder or a symbolic link.
type entry struct {
	mode fs.FileMode
	data string // or the target of a link
}

// prepare makes the repository. Its branches change and other change .envrc and file.
const prepare = `git init -q -b main && git config user.name n && git config user.email n@h && rm -rf .git/hooks/* && mkdir -p .git/info
printf '#!/bin/sh\necho evil\necho more\n' >evil && chmod +x evil && cp evil evil.tracked
printf 'one\ntwo\nthree\n' >file && echo before >.envrc && mkdir sub && echo other >sub/other
printf '#include <stdio.h>\nint main(int c,char**v){if(c>1){FILE*f=fopen(v[1],"w");fputs("evil",f);fclose(f);}return 0;}\n' >evil.c
git add . && git commit -qm first && git commit -q --allow-empty -m second && git branch other
echo '# original' >.envrc && printf 'one\ntwo\nfour\n' >file && git commit -qam third
git checkout -q -b change && echo evil >.envrc && git commit -qam change && git checkout -q other && printf 'one\ntwo\nfive\n' >file && git commit -qam other && git checkout -q main`

func newPlayground(t *testing.T, missing []string) *playground {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	at := filepath.Join(dir, "ws")
	for _, d := range []string{home, at} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("SHELL", "/bin/sh")
	cmd := exec.Command("/bin/sh", "-ec", prepare)
	cmd.Dir, cmd.Env = at, append(os.Environ(), "PATH=/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("preparing the workspace: %v: %s", err, out)
	}
	p := &playground{T: t}
	for _, rel := range floorFiles {
		path := filepath.Join(at, rel)
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		mode := os.FileMode(0o644)
		if strings.Contains(rel, "hooks/") || strings.Contains(rel, ".husky/") {
			mode = 0o755
		}
		for _, err := range []error{os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("# original\n"), mode)} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for link, target := range map[string]string{".profile": "conf/profile", ".lefthook": "conf/a", "conf/a": "b"} {
		if err := os.Symlink(target, filepath.Join(at, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(at, ".git/modules/m/HEAD"), []byte("ref: refs/heads/main\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.template = p.read(at)
	p.open(at, filepath.Join(dir, "node"), missing)
	return p
}

// open starts what a node has for its commands.
func (p *playground) open(dir, own string, missing []string) {
	var err error
	if p.ws, err = workspace.Open(dir); err != nil {
		p.Fatal(err)
	}
	p.own = own
	p.Cleanup(func() { p.ws.Close() })
	list := floor.New()
	p.Cleanup(list.Close)
	store, err := baseline.New(own, p.ws, list, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		p.Fatal(err)
	}
	if p.box, err = sandbox.New(p.Context(), sandbox.Options{Home: own, Missing: missing, Floor: list}); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(p.box.Close)
	p.bash = p.openTool(sandbox.Profile{}, store)
}

// openTool returns the tool with which commands run that are contained as in the profile.
func (p *playground) openTool(profile sandbox.Profile, look *baseline.Store) (bash tool) {
	profile.Workspace = p.ws.Dir()
	jobs := shell.NewJobs(shell.JobOptions{Box: p.box, Profile: profile, Baseline: look, Home: p.own})
	p.Cleanup(jobs.Close)
	for _, t := range shell.Tools(p.ws, jobs) {
		if t.Spec.Name == "Bash" {
			bash = t.Call
		}
	}
	return bash
}

// answer is the result of a command.
type answer struct {
	Status, Output, Note string
	PutBack              []protocol.ProtectedChange
}

// run runs a command of the agent.
func (p *playground) run(command string) answer { return p.call(p.bash, command, access.Call{}) }

func (p *playground) call(bash tool, command string, call access.Call) (out answer) {
	raw, err := protocol.Marshal(map[string]any{"command": command, "timeout": 20_000})
	if err == nil {
		raw, err = bash(p.Context(), call, raw)
	}
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		p.Errorf("%s: %v", command, err)
	}
	return out
}

// read returns what is in a folder.
func (p *playground) read(dir string) map[string]entry {
	all := map[string]entry{}
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		if err != nil || rel == "." {
			return nil // what cannot be read is missing, which differs, too
		}
		if workspace.IsInternal(d.Name()) {
			return fs.SkipDir
		}
		if e, ok := entryOf(path); ok {
			all[rel] = e
		}
		return nil
	})
	return all
}

func entryOf(path string) (e entry, ok bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return e, false
	}
	e.mode = info.Mode()
	switch {
	case e.mode&fs.ModeSymlink != 0:
		e.data, err = os.Readlink(path)
	case e.mode.IsRegular():
		var data []byte
		data, err = os.ReadFile(path)
		e.data = string(data)
	}
	return e, err == nil
}

// isChanged reports whether a file differs from the template, or the way to it does. An empty folder
// with its name is as good as none.
func (p *playground) isChanged(rel string) bool {
	if p.template[rel] == (entry{}) && isEmptyTree(filepath.Join(p.ws.Dir(), rel)) {
		return false
	}
	for at := rel; at != "."; at = filepath.Dir(at) {
		want, existed := p.template[at]
		got, exists := entryOf(filepath.Join(p.ws.Dir(), at))
		switch {
		case at == rel && exists != existed, existed && exists && got.mode.Type() != want.mode.Type():
			return true
		case at == rel && existed && (got.data != want.data || got.mode.Perm()&^0o444 != want.mode.Perm()&^0o444):
			return true
		}
	}
	return false
}

// isEmptyTree reports whether there is a folder that contains nothing but folders.
func isEmptyTree(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	return filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			err = fs.ErrExist
		}
		return err
	}) == nil
}

// changes returns the protected files that differ from the template. Without the kernel's help, one
// that was removed with its folder may stay away, and Git may record harmless settings.
func (p *playground) changes(target string, isKept bool) (list []string) {
	p.unlock()
	for _, rel := range slices.Concat(floorFiles, absentFiles, []string{target}) {
		if !p.isChanged(rel) || slices.Contains(list, rel) {
			continue
		}
		path := filepath.Join(p.ws.Dir(), rel)
		_, err := os.Lstat(filepath.Dir(path))
		if !isKept && os.IsNotExist(err) {
			continue
		}
		if now, _ := entryOf(path); !isKept && filepath.Base(rel) == "config" && !strings.Contains(now.data, "evil") {
			continue
		}
		list = append(list, rel)
	}
	return list
}

// unlock makes closed folders readable again.
func (p *playground) unlock() {
	os.Chmod(p.ws.Dir(), 0o700)
	filepath.WalkDir(p.ws.Dir(), func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			if info, statErr := d.Info(); statErr == nil && info.Mode().Perm()&0o700 != 0o700 {
				os.Chmod(path, 0o755)
			}
		}
		return nil
	})
}

// reset makes the workspace like the template again.
func (p *playground) reset() {
	dir := p.ws.Dir()
	p.unlock()
	now := p.read(dir)
	for rel := range now {
		if want, ok := p.template[rel]; !ok || want.mode.Type() != now[rel].mode.Type() {
			os.RemoveAll(filepath.Join(dir, rel))
			delete(now, rel)
		}
	}
	for _, rel := range slices.Sorted(maps.Keys(p.template)) {
		want, path := p.template[rel], filepath.Join(dir, rel)
		if now[rel] == want {
			continue
		}
		var err error
		if want.mode.IsDir() {
			os.Mkdir(path, 0o755)
		} else {
			os.RemoveAll(path)
			err = os.WriteFile(path, []byte(want.data), 0o600)
		}
		if want.mode&fs.ModeSymlink != 0 {
			os.Remove(path)
			if err := os.Symlink(want.data, path); err != nil {
				p.Error(err)
			}
			continue
		}
		if err = errors.Join(err, os.Chmod(path, want.mode.Perm())); err != nil {
			p.Errorf("resetting %s: %v", rel, err)
		}
	}
}
