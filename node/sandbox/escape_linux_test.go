package sandbox_test

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/polltest"
	"fairlead/node/access"
	"fairlead/node/sandbox"
)

//go:embed testdata/escapes.txt
var escapeTable string

// minWays is the number of ways to write a protected file that a machine of the project must be
// able to try.
const minWays = 400

// way is a row of escapes.txt.
type way struct {
	name, target string
	needs        []string
	command      string
}

func parseWays(t *testing.T, table string) (list []way) {
	t.Helper()
	seen := map[string]bool{}
	for line := range strings.Lines(table) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		var columns []string
		for range 3 {
			column, rest, _ := strings.Cut(line, "  ")
			columns, line = append(columns, column), strings.TrimLeft(rest, " ")
		}
		if seen[columns[0]] || line == "" {
			t.Fatalf("%s: got a second row with this name or one without a command, want one row with a command", columns[0])
		}
		seen[columns[0]] = true
		list = append(list, way{columns[0], columns[1], strings.Split(columns[2], ","), line})
	}
	return list
}

// works reports whether the way changes its target for every user when nothing is protected.
func (w way) works() bool { return w.target != "try" }

// missing returns the programs that the way needs and that are not installed.
func (w way) missing() []string {
	return slices.DeleteFunc(slices.Clone(w.needs), func(program string) bool {
		_, err := exec.LookPath(program)
		return err == nil
	})
}

// floorFiles exist in the workspace of the escape suite; absentFiles do not. Links lead to those in
// conf.
var (
	floorFiles = []string{
		".git/hooks/pre-commit", ".git/config", ".envrc", ".vscode/tasks.json", ".bashrc", ".husky/pre-commit", "sub/deep/.npmrc", ".git/modules/m/config",
		".git/info/attributes", ".githooks/pre-push", ".devcontainer/devcontainer.json", "lefthook.yml", "conf/profile", "conf/b/pre-push",
	}
	absentFiles = []string{
		".git/hooks/pre-push", ".vscode/settings.json", ".zshenv", ".idea/workspace.xml", "sub/.envrc", ".git/modules/m/hooks/post-checkout", ".mcp.json",
		".cargo/config.toml", ".claude/settings.json", ".pre-commit-config.yaml", ".config/fish/config.fish", ".overcommit/pre-push/x",
	}
)

// targetOf returns the file that the way writes, in turns.
func (w way) targetOf(turn int) string {
	switch w.target {
	case "old":
		return floorFiles[turn%len(floorFiles)]
	case "new":
		return absentFiles[turn%len(absentFiles)]
	case "any", "try":
		if turn%2 == 0 {
			return floorFiles[turn/2%len(floorFiles)]
		}
		return absentFiles[turn/2%len(absentFiles)]
	}
	return w.target
}

// script returns the commands of the way, of which each is a call of its own.
func (w way) script(target string) (commands []string) {
	for part := range strings.SplitSeq(w.command, " ;;; ") {
		prefix := "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin; export F=" + target + " A=$PWD/" + target + " D=" + filepath.Dir(target) + " N=" + filepath.Base(target) + "\n"
		if len(commands) == 0 && w.target != target {
			prefix += "mkdir -p $D\n"
		}
		commands = append(commands, prefix+part)
	}
	return commands
}

// outcomes counts what became of the ways.
type outcomes struct {
	mu                      sync.Mutex
	ran, kept, undone       int
	lost, idle, unavailable []string
}

func (y *outcomes) add(f func()) {
	y.mu.Lock()
	defer y.mu.Unlock()
	f()
}

// escapeMode is what keeps commands from writing protected files.
type escapeMode struct {
	name    string
	missing []string
	isKept  bool // by the kernel
	only    func(way) bool
}

// tryWays tries every way of the table in a mode, with two workspaces at the same time.
func tryWays(t *testing.T, mode escapeMode, list []way) *outcomes {
	y := &outcomes{}
	next := make(chan int)
	var wg sync.WaitGroup
	for range 2 {
		p := newPlayground(t, mode.missing)
		mode.needs(t, p.box)
		wg.Go(func() {
			for i := range next {
				p.try(mode, list[i], i, y)
			}
		})
	}
	for i, w := range list {
		if mode.only(w) {
			next <- i
		}
	}
	close(next)
	wg.Wait()
	return y
}

// escapeModes are those of an ordinary user, or the one of root, with ways of some kinds.
func escapeModes(ofRoot ...string) []escapeMode {
	if os.Getuid() == 0 {
		return []escapeMode{{name: "root", isKept: true, only: func(w way) bool { return slices.Contains(ofRoot, w.target) }}}
	}
	all := func(way) bool { return true }
	return []escapeMode{{name: "kernel", isKept: true, only: all}, {name: "look", missing: []string{"mounts"}, only: all}}
}

// needs skips a test where the machine does not work as in the mode.
func (m escapeMode) needs(t *testing.T, b *sandbox.Box) {
	if got := b.Report().Check(sandbox.CheckProtected); got.Enforced != m.isKept {
		t.Skipf("%s: the machine keeps files from being changed: got %v (%s), want %v", m.name, got.Enforced, got.Why, m.isKept)
	}
}

// report fails for what was lost, and for ways that do not work or are missing.
func (y *outcomes) report(t *testing.T, least int, mode escapeMode) {
	t.Logf("%d ways tried: nothing changed after %d, undone after %d, left after %d; %d not tried: %s",
		y.ran, y.kept, y.undone, len(y.lost), len(y.unavailable), strings.Join(y.unavailable, ", "))
	for _, l := range append(y.lost, y.idle...) {
		t.Error(l)
	}
	if y.ran < least && mode.name != "root" {
		t.Errorf("got %d ways, want at least %d", y.ran, least)
	}
}

// TestNoCommandWritesAProtectedFile tries the ways of escapes.txt to write a file that starts
// programs, as commands that were allowed.
func TestNoCommandWritesAProtectedFile(t *testing.T) {
	list := parseWays(t, escapeTable)
	for _, mode := range escapeModes("try") {
		t.Run(mode.name, func(t *testing.T) { tryWays(t, mode, list).report(t, minWays, mode) })
	}
}

// TestNoCommandOfAnOrdinaryUserWritesAProtectedFile repeats it as a user without rights.
func TestNoCommandOfAnOrdinaryUserWritesAProtectedFile(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("TestNoCommandWritesAProtectedFile has run as an ordinary user already")
	}
	runAsNobody(t, "TestNoCommandWritesAProtectedFile|TestNoCommandWritesWhileAnotherRuns")
}

// runAsNobody runs tests of this program as a user without rights.
func runAsNobody(t *testing.T, pattern string) {
	t.Helper()
	cmd := asNobody(t, "")
	cmd.Args = []string{cmd.Path, "-test.run=^(" + pattern + ")$", "-test.v"}
	out, err := cmd.Output()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(out), "--- SKIP") {
		t.Skip("an ordinary user cannot create name spaces here")
	}
}

// try makes one attempt. Without the kernel's help, it must have changed something.
func (p *playground) try(mode escapeMode, w way, turn int, y *outcomes) {
	if missing := w.missing(); len(missing) > 0 {
		y.add(func() { y.unavailable = append(y.unavailable, w.name+" ("+strings.Join(missing, ", ")+")") })
		return
	}
	target := w.targetOf(turn)
	var said []string
	changed := map[string]string{}
	for _, c := range w.script(target) {
		out := p.run(c)
		said = append(said, out.Status, out.Output, out.Note)
		for _, b := range out.PutBack {
			rel, _ := filepath.Rel(p.ws.Dir(), b.Path)
			changed[rel] = b.Kind
			if b.Problem != "" {
				said = append(said, b.Path+": "+b.Problem)
			}
		}
	}
	left := p.changes(target, mode.isKept)
	if mode.isKept { // what existed, the kernel keeps
		for rel, kind := range changed {
			if _, existed := p.template[rel]; existed {
				left = append(left, rel+" was "+kind+" and put back")
			}
		}
	}
	isIdle := w.works() && !mode.isKept && !p.isChanged(target)
	p.reset()
	y.add(func() {
		y.ran++
		switch {
		case len(left) > 0:
			y.lost = append(y.lost, fmt.Sprintf("%s on %s: %s (%.500s)", w.name, target, strings.Join(left, ", "), strings.Join(said, " ")))
		case len(changed) > 0:
			y.undone++
		case isIdle:
			y.idle = append(y.idle, fmt.Sprintf("%s does not change %s: %.300s", w.name, target, strings.Join(said, " ")))
		default:
			y.kept++
		}
	})
}

// TestNoCommandWritesWhileAnotherRuns lets one command write without end while another one may
// change a file.
func TestNoCommandWritesWhileAnotherRuns(t *testing.T) {
	for _, mode := range escapeModes() {
		t.Run(mode.name, func(t *testing.T) {
			p := newPlayground(t, mode.missing)
			mode.needs(t, p.box)
			var first crash.Group
			first.Go(func() {
				p.run("mkdir -p .idea; touch started; until [ -e stop ]; do cp evil .envrc; cp evil .git/hooks/pre-push; cp evil .idea/x; sleep 0.01; done 2>/dev/null")
			})
			polltest.Until(t, "the first command", func() bool {
				_, err := os.Stat(filepath.Join(p.ws.Dir(), "started"))
				return err == nil
			})
			second := access.Call{}
			if mode.isKept {
				second.Lifts = []string{filepath.Join(p.ws.Dir(), ".envrc")}
			}
			p.call(p.bash, "echo allowed >.envrc; cp evil .husky/pre-commit; sleep 0.1; echo allowed >.envrc; touch stop", second)
			first.Wait()
			if mode.isKept {
				if e, _ := entryOf(filepath.Join(p.ws.Dir(), ".envrc")); e.data != "allowed\n" {
					t.Errorf("the file of the allowed command: got %q, want its content", e.data)
				}
				p.template[".envrc"] = entry{mode: 0o644, data: "allowed\n"}
			}
			if left := p.changes(".idea/x", mode.isKept); len(left) > 0 {
				t.Errorf("changed: got %q, want none", left)
			}
		})
	}
}
