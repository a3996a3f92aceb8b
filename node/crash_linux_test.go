package node

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/node/sandbox"
)

// crashTools are the tools in the order of their bytes in the state file: 1 while a call is
// running.
var crashTools = []string{"Bash", "Process", "Read", "Write", "Edit", "Glob", "Grep"}

// crashKills is how often each tool must be hit in the middle of a call.
const crashKills = 100

// workVar names the folder in which the test program is a node that works until it is killed.
const workVar = "NODE_TEST_WORK"

func init() {
	if dir := os.Getenv(workVar); dir != "" {
		sandbox.Main()
		workForever(dir)
	}
}

func crashNode(dir string) (*Node, error) {
	return New(Options{ID: "a", URL: "ws://x/ws", Workspace: filepath.Join(dir, "ws"), Home: filepath.Join(dir, "home")})
}

// workForever runs all seven tools at the same time until the process is killed.
func workForever(dir string) {
	n, err := crashNode(dir)
	if err != nil {
		panic(err)
	}
	n.jobs.Recover(context.Background())
	state, err := os.OpenFile(filepath.Join(dir, "state"), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	call := func(name string, args map[string]any) map[string]any {
		raw, err := json.Marshal(args)
		if err != nil {
			panic(err)
		}
		answer := n.call(context.Background(), protocol.ToolInvoke{CallID: protocol.CallID(protocol.NewID()), Tool: name, Args: raw})
		if answer.Error != "" {
			panic(fmt.Sprintf("%s(%.200s): %s", name, raw, answer.Error))
		}
		var out map[string]any
		if err := json.Unmarshal(answer.Result, &out); err != nil {
			panic(err)
		}
		return out
	}
	counter := crashCounter(filepath.Join(dir, "ws", "edited"))
	session, _ := call("Bash", map[string]any{"command": "cat", "background": true})["sessionId"].(string)
	steps := map[string]func(i int){
		"Bash": func(int) { call("Bash", map[string]any{"command": "sleep 999 & wait", "timeout": 40}) },
		"Process": func(i int) {
			action := []string{"write", "poll", "log", "list"}[i%4]
			call("Process", map[string]any{"action": action, "sessionId": session, "data": strings.Repeat("x", 99) + "\n"})
		},
		"Read": func(int) { call("Read", map[string]any{"path": "big", "offset": 20_000, "limit": 5}) },
		"Write": func(i int) {
			call("Write", map[string]any{"path": "written", "content": strings.Repeat(string(rune('a'+i%26)), 100_000)})
		},
		"Edit": func(int) {
			call("Edit", map[string]any{"path": "edited", "oldString": fmt.Sprintf("<%d>", counter), "newString": fmt.Sprintf("<%d>", counter+1), "replaceAll": true})
			counter++
		},
		"Glob": func(int) { call("Glob", map[string]any{"pattern": "tree/**/*.txt"}) },
		"Grep": func(int) { call("Grep", map[string]any{"pattern": "needle", "path": "tree"}) },
	}
	for at, name := range crashTools {
		go func() {
			for i := 0; ; i++ {
				state.WriteAt([]byte{1}, int64(at))
				steps[name](i)
				state.WriteAt([]byte{0}, int64(at))
			}
		}()
	}
	fmt.Println("ready")
	select {}
}

// crashCounter reads the number that the edited file contains twice; -1 if the content is not a
// state between two edits.
func crashCounter(path string) int {
	data, err := os.ReadFile(path)
	if err != nil {
		return -1
	}
	var first, last int
	head, rest, ok := bytes.Cut(data, []byte("\n"))
	body, tail, ok2 := bytes.Cut(rest, []byte("\n"))
	if _, err := fmt.Sscanf(string(head), "<%d>", &first); err != nil || !ok || !ok2 {
		return -1
	}
	if _, err := fmt.Sscanf(string(tail), "<%d>", &last); err != nil || first != last || len(bytes.Trim(body, "p")) > 0 || len(body) != 80_000 {
		return -1
	}
	return first
}

// processesIn returns the processes that run in a folder.
func processesIn(dir string) (pids []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range all {
		if to, err := os.Readlink(link); err == nil && to == dir {
			pids = append(pids, filepath.Base(filepath.Dir(link)))
		}
	}
	return pids
}

// TestKillDuringAnyToolLeavesNothingHalfDone kills a node whose seven tools all run, until each
// was hit 100 times in the middle of a call. After each kill, files are old or new and no command
// is still running; the next node finds the ledger of the previous one.
func TestKillDuringAnyToolLeavesNothingHalfDone(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws := filepath.Join(dir, "ws")
	put := func(name, text string) {
		path := filepath.Join(ws, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("edited", "<0>\n"+strings.Repeat("p", 80_000)+"\n<0>")
	put("written", "")
	big := strings.Repeat("one of many lines\n", 30_000)
	put("big", big)
	for i := range 200 {
		put(fmt.Sprintf("tree/%d/%d.txt", i%20, i), "some\ntext\n")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	hits, kills, edits := make(map[string]int), 0, 0
	fewest := func() (least int) {
		least = kills
		for _, name := range crashTools {
			least = min(least, hits[name])
		}
		return least
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	for ; fewest() < crashKills && kills < 3*crashKills; kills++ {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), workVar+"="+dir, "SHELL=/bin/sh")
		var words bytes.Buffer
		cmd.Stderr = &words
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
			t.Fatalf("got %q, error %v, want ready: %s", line, err, &words)
		}
		// The time of the kill varies.
		time.Sleep(time.Duration(rnd.IntN(30_000)) * time.Microsecond)
		cmd.Process.Kill()
		cmd.Wait()
		if words.Len() > 0 {
			t.Fatalf("kill %d: got output %s, want none", kills, &words)
		}
		state, err := os.ReadFile(filepath.Join(dir, "state"))
		if err != nil {
			t.Fatal(err)
		}
		for at, name := range crashTools {
			if at < len(state) && state[at] == 1 {
				hits[name]++
			}
		}
		n := crashCounter(filepath.Join(ws, "edited"))
		if n < edits {
			t.Fatalf("kill %d: got edit %d in the file, want at least %d", kills, n, edits)
		}
		edits = n
		data, err := os.ReadFile(filepath.Join(ws, "written"))
		if err != nil || len(data) != 0 && (len(data) != 100_000 || len(bytes.Trim(data, string(data[:1]))) > 0) {
			t.Fatalf("kill %d: got a written file of %d bytes, error %v, want an old or a new one", kills, len(data), err)
		}
		for end := time.Now().Add(3 * time.Minute); ; time.Sleep(2 * time.Millisecond) {
			left := processesIn(ws)
			if len(left) == 0 {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("kill %d: got running processes %v, want none", kills, left)
			}
		}
	}
	t.Logf("%d kills, %d edits, in the middle of a call: %v", kills, edits, hits)
	if fewest() < crashKills || edits == 0 {
		t.Errorf("got %v kills in the middle of a call, want at least %d of each", hits, crashKills)
	}
	n, err := crashNode(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if left := n.jobs.Recover(t.Context()); len(left) == 0 {
		t.Error("the ledger of the last node has no command")
	}
	reported := make(map[string]bool)
	for session, reports := range n.out.queues {
		reported[string(session)] = true
		if len(reports) != 1 {
			t.Errorf("got %d reports of %s, want 1", len(reports), session)
		}
		reports[0].done()
	}
	if rest := storedEnds(t, filepath.Join(dir, "home")); len(reported) == 0 || len(rest) > 0 {
		t.Errorf("got %d reported ends and %d not reported, want all reported", len(reported), len(rest))
	}
	if data, err := os.ReadFile(filepath.Join(ws, "big")); err != nil || string(data) != big {
		t.Errorf("a file that was only read: got %d bytes, error %v, want %d as before", len(data), err, len(big))
	}
	files := 0
	filepath.WalkDir(filepath.Join(ws, "tree"), func(_ string, d fs.DirEntry, _ error) error {
		if !d.IsDir() {
			files++
		}
		return nil
	})
	if files != 200 {
		t.Errorf("got %d files in the tree, want 200", files)
	}
}
