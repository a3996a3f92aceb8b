//go:build unix

package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"fairlead/gateway"
	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
	"fairlead/node/workspace"
)

const (
	// childDaily, if set, makes the test binary a gateway with a confined node on that data folder,
	// which works in childWork and may write to childCache.
	childDaily = "FAIRLEAD_TEST_DAILY"
	childWork  = "FAIRLEAD_TEST_DAILY_WORK"
	childCache = "FAIRLEAD_TEST_DAILY_CACHE"
	// leastDaily is the number of everyday commands that must run where the programs of
	// packaging/deps.sh are installed.
	leastDaily = 200
)

func runDaily(home string) {
	ctx := context.Background()
	fail := func(err error) {
		fmt.Println("failed", err)
		os.Exit(1)
	}
	log := slog.New(slog.DiscardHandler)
	slog.SetDefault(log)
	g, err := gateway.Open(ctx, gateway.Options{Home: home, Listen: "127.0.0.1:0", Logger: log})
	if err != nil {
		fail(err)
	}
	confine := node.Confinement{Env: []string{"GOCACHE", "GOFLAGS=-mod=mod", "RUSTUP_HOME", "NO_UPDATE_NOTIFIER=1"}}
	if dir := os.Getenv(childCache); dir != "" {
		confine.Grants = []workspace.Grant{{Dir: dir}}
	}
	n, err := node.New(node.Options{ID: "box", Workspace: os.Getenv(childWork), Home: filepath.Join(home, "node"), Dial: g.Dial, Logger: log, Version: "test", Confine: confine})
	if err != nil {
		fail(err)
	}
	fail(serveChild(ctx, g, n))
}

// dailyRow is a line of testdata/daily.txt.
type dailyRow struct {
	section, dir, command, check string
	needs                        []string
	person, asks, fails          bool
	users                        string
}

var dailyLine = regexp.MustCompile(`^([\w./-]*)([$%?!]) (.*)$`)

// readDaily reads the table of everyday commands, whose first lines describe it.
func readDaily(t *testing.T) (rows []dailyRow) {
	t.Helper()
	data, err := os.ReadFile("testdata/daily.txt")
	if err != nil {
		t.Fatal(err)
	}
	var at dailyRow
	for line := range strings.Lines(strings.ReplaceAll(string(data), "\\\n", "")) {
		line = strings.TrimRight(line, "\n")
		if head, ok := strings.CutPrefix(line, "== "); ok {
			words := strings.Fields(head)
			at = dailyRow{section: words[0], users: words[1], needs: words[2:]}
			continue
		}
		m := dailyLine.FindStringSubmatch(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if m == nil {
			t.Fatalf("testdata/daily.txt has the line %q, want one that the pattern knows", line)
		}
		row := at
		row.dir, row.person, row.asks, row.fails = m[1], m[2] == "%", m[2] == "?", m[2] == "!"
		row.command, row.check, _ = strings.Cut(m[3], " :: ")
		rows = append(rows, row)
	}
	return rows
}

// dailyHost is a gateway with a machine that one user of the system has started.
type dailyHost struct {
	*testing.T
	dir, work   string
	base, token string
	owner       *client.Client
	user        *syscall.Credential // nil: the one of the test
	env         []string
	ran         map[string]bool
	missing     map[string]bool
}

func newDailyHost(t *testing.T, user *syscall.Credential) *dailyHost {
	t.Helper()
	dir, err := os.MkdirTemp("", "daily")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	h := &dailyHost{T: t, dir: dir, work: filepath.Join(dir, "work"), user: user, ran: map[string]bool{}, missing: map[string]bool{}}
	person := filepath.Join(dir, "person")
	exe := filepath.Join(dir, "program")
	h.env = []string{"HOME=" + person, "PATH=" + os.Getenv("PATH"), "LC_ALL=C", "SHELL=/bin/bash", "TMPDIR=" + dir, "USER=person", "GIT_CONFIG_NOSYSTEM=1"}
	if cache := ownCache(); user == nil && cache != "" {
		h.env = append(h.env, "GOCACHE="+cache, childCache+"="+cache, "RUSTUP_HOME="+rustup())
	}
	copyFile(t, exe)
	for _, d := range []string{person, h.work, filepath.Join(dir, "home")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	settings := "[user]\n\tname = Person\n\temail = person@example.org\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n[gc]\n\tauto = 0\n[advice]\n\tdetachedHead = false\n"
	profile := "export PATH='" + os.Getenv("PATH") + "'\n" // the one of the system may replace it
	for name, text := range map[string]string{".gitconfig": settings, ".profile": profile} {
		if err := os.WriteFile(filepath.Join(person, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if user != nil {
		if out, err := exec.Command("chown", "-R", fmt.Sprint(user.Uid, ":", user.Gid), dir).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	h.start(exe)
	return h
}

// ownCache and rustup return the folders of the person's own programs, which need more than a new
// home.
func ownCache() string {
	cmd := exec.Command("go", "env", "GOCACHE")
	cmd.Env = append(os.Environ(), "HOME="+personHome)
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func rustup() string {
	if dir := os.Getenv("RUSTUP_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(personHome, ".rustup")
}

func copyFile(t *testing.T, to string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(exe)
	if err == nil {
		err = os.WriteFile(to, data, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (h *dailyHost) start(exe string) {
	h.Helper()
	env := append(slices.Clone(h.env), childDaily+"="+filepath.Join(h.dir, "home"), childWork+"="+h.work, "FAIRLEAD_TOKEN=kill-test", "FAIRLEAD_SECRETS=file", "GORACE=atexit_sleep_ms=0")
	cmd := exec.Command(exe, "-test.run=^$")
	cmd.Env, cmd.SysProcAttr = env, &syscall.SysProcAttr{Credential: h.user}
	c := startProgram(h.T, cmd)
	h.Cleanup(c.kill)
	conn, stop := dial(h.T, c.url)
	h.Cleanup(stop)
	h.owner = conn
	h.base = strings.TrimSuffix(strings.Replace(c.url, "ws:", "http:", 1), "/ws")
	for path, value := range map[string]string{
		"toolApproval.defaultDecision": `"allow"`, "api.waitMs": `60000`, "api.limits.machine.perMinute": `0`,
	} {
		if _, err := client.Call(h.Context(), conn, protocol.ConfigSet, protocol.ConfigSetParams{Path: path, Value: json.RawMessage(value)}); err != nil {
			h.Fatalf("setting %s: %v", path, err)
		}
	}
	r, err := client.Call(h.Context(), conn, protocol.TokenCreate, protocol.TokenCreateParams{Name: "Agent", Scopes: protocol.AppScopes})
	if err != nil {
		h.Fatal(err)
	}
	h.token = r.Token
}

// has reports whether the user can start a program.
func (h *dailyHost) has(program string) bool {
	return h.person(h.work, "command -v "+program+" >/dev/null && { "+program+" --version || "+program+" version || "+program+" --help || test $? -lt 126; }", "") == nil
}

// person runs a command as the person does, without Fairlead.
func (h *dailyHost) person(dir, command, output string) error {
	cmd := exec.CommandContext(h.Context(), "sh", "-ec", command)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = dir, append(slices.Clone(h.env), "OUT="+output), &syscall.SysProcAttr{Credential: h.user}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// dailyResult is what a program gets from Bash.
type dailyResult struct {
	Output, Note string
	ExitCode     *int
	PutBack      []protocol.ProtectedChange
}

// run runs a command as an agent does. question is the reason of the question that it made.
func (h *dailyHost) run(row dailyRow) (out dailyResult, question string) {
	h.Helper()
	answered := make(chan dailyResult, 1)
	go func() { answered <- h.call(row) }()
	polltest.Until(h, "an answer to "+row.command, func() bool {
		select {
		case out = <-answered:
			return true
		default:
		}
		r, err := client.Call(h.Context(), h.owner, protocol.QuestionList, protocol.Empty{})
		if err != nil {
			h.Error(err)
			return true
		}
		for _, q := range r.Questions {
			question += q.Why + "; "
			if _, err := client.Call(h.Context(), h.owner, protocol.QuestionAnswer, protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: protocol.DecisionAllow}); err != nil {
				h.Errorf("answering %q: %v", q.Why, err)
			}
		}
		return false
	})
	return out, question
}

func (h *dailyHost) call(row dailyRow) (out dailyResult) {
	args, err := json.Marshal(map[string]any{"command": row.command, "workdir": filepath.Join(row.section, row.dir)})
	if err != nil {
		h.Error(err)
		return out
	}
	r, err := http.NewRequestWithContext(h.Context(), "POST", h.base+"/api/v1/tools/box__Bash", bytes.NewReader(args))
	if err != nil {
		h.Error(err)
		return out
	}
	r.Header.Set("Authorization", "Bearer "+h.token)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		h.Error(err)
		return out
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	var answer struct {
		Data  dailyResult
		Error *struct{ Code, Message string }
	}
	if err == nil {
		err = json.Unmarshal(raw, &answer)
	}
	if out = answer.Data; err != nil || answer.Error != nil || out.ExitCode == nil {
		h.Errorf("%s: %v in %.1000s; want no error, no answer.Error and out.ExitCode set", row.command, err, raw)
	}
	return out
}

// do runs one row and checks what it does.
func (h *dailyHost) do(t *testing.T, row dailyRow) {
	dir := filepath.Join(h.work, row.section, row.dir)
	if row.person {
		if err := h.person(dir, row.command, ""); err != nil {
			t.Errorf("preparing: %s: %v", row.command, err)
		}
		return
	}
	h.ran[row.section+row.dir+row.command] = true
	res, question := h.run(row)
	if res.ExitCode == nil {
		return
	}
	if failed := *res.ExitCode != 0; failed != row.fails {
		t.Errorf("%s: exit code %d: %s", row.command, *res.ExitCode, res.Output)
	}
	if asked := question != ""; asked != row.asks {
		t.Errorf("%s: got the question %q, want one: %v", row.command, question, row.asks)
	}
	if res.Note != "" || len(res.PutBack) > 0 {
		t.Errorf("%s: the note is %q, put back is %+v", row.command, res.Note, res.PutBack)
	}
	output := filepath.Join(h.dir, "output")
	if err := os.WriteFile(output, []byte(res.Output), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := h.person(dir, row.check, output); err != nil {
		t.Errorf("%s: the check %q: %v\noutput: %s", row.command, row.check, err, res.Output)
	}
}

// TestEverydayCommandsAreNotDisturbed runs the everyday commands of testdata/daily.txt as an agent
// whom the person trusts, on a machine that protects start-up files and looks at them afterwards.
func TestEverydayCommandsAreNotDisturbed(t *testing.T) {
	rows := readDaily(t)
	hosts := map[string]*syscall.Credential{"own": nil}
	if os.Getuid() == 0 {
		hosts["user"] = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	ran, missing := map[string]bool{}, map[string]bool{}
	for name, user := range hosts {
		t.Run(name, func(t *testing.T) {
			h := newDailyHost(t, user)
			for i, j := 0, 0; i < len(rows); i = j {
				for j = i; j < len(rows) && rows[j].section == rows[i].section; j++ {
				}
				if len(hosts) == 1 || strings.Contains(rows[i].users, name) {
					t.Run(rows[i].section, func(t *testing.T) { h.section(t, rows[i:j]) })
				}
			}
			for row := range h.ran {
				ran[row] = true
			}
			for program := range h.missing {
				missing[program] = true
			}
		})
	}
	t.Logf("%d commands ran; these programs are missing: %v", len(ran), missing)
	if len(ran) < leastDaily && !t.Failed() {
		t.Errorf("%d commands ran, want %d: packaging/deps.sh test installs what they need", len(ran), leastDaily)
	}
}

// section runs the rows of a section in a new folder of its own.
func (h *dailyHost) section(t *testing.T, rows []dailyRow) {
	missing := slices.DeleteFunc(slices.Clone(rows[0].needs), h.has)
	for _, program := range missing {
		h.missing[program] = true
	}
	if len(missing) > 0 {
		t.Skipf("not installed here, so that %d rows do not run: %s", len(rows), strings.Join(missing, ", "))
	}
	if err := h.person(h.work, "mkdir -p "+rows[0].section, ""); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		h.do(t, row)
	}
}
