//go:build unix

package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// question waits for the one question of the owner.
func (p *programs) question() protocol.Question {
	p.t.Helper()
	p.until("a question", func() bool { return len(p.pending()) == 1 })
	return p.pending()[0]
}

func (p *programs) answer(q protocol.Question, decision string) {
	p.t.Helper()
	ask(p.accessGateway, protocol.QuestionAnswer, protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: decision})
}

// callInBackground makes a call in the background, and returns its answer.
func callInBackground(call surface, token, tool, args string) <-chan string {
	out := make(chan string, 1)
	go func() {
		for {
			_, answer, _ := call(token, tool, args)
			if code(answer) != "approval_required" { // the same call fetches the outcome
				out <- answer
				return
			}
		}
	}()
	return out
}

// collect sends a text in two parts and returns the arguments of the call that finishes the file.
func (p *programs) collect(call surface, token, path, text string) (last string) {
	p.t.Helper()
	status, answer, _ := call(token, "fs_write", fmt.Sprintf(`{"target":{"node_name":"box"},"path":%q,"chunk":%q}`, path, text[:4]))
	id := field(answer, "file_id")
	if status != http.StatusOK || id == "" {
		p.t.Fatalf("first part: got %d %s, want a file_id", status, answer)
	}
	if status, answer, _ := call(token, "fs_write", fmt.Sprintf(`{"file_id":%q,"chunk":%q}`, id, text[4:8])); status != http.StatusOK || code(answer) != "" {
		p.t.Fatalf("second part: got %d %s, want 200", status, answer)
	}
	if list := p.pending(); len(list) != 0 {
		p.t.Fatalf("collected parts ask %+v, want no question", list)
	}
	return fmt.Sprintf(`{"file_id":%q,"chunk":%q,"done":true}`, id, text[8:])
}

// A person must see everything that a file in parts will contain, before any of it is there.
func TestFileInPartsIsShownWhole(t *testing.T) {
	p := openPrograms(t)
	token := p.token("A", protocol.ScopeFilesWrite)
	const text = "first part, text that nobody saw\n"
	path := filepath.Join(p.workspace, "a.txt")
	for name, call := range p.surfaces() {
		for _, decision := range []string{"deny", "allow"} {
			os.Remove(path)
			done := callInBackground(call, token, "fs_write", p.collect(call, token, path, text))
			q := p.question()
			if q.Preview == nil || !strings.Contains(q.Preview.Diff, "+"+text) || q.Preview.Path != path {
				t.Errorf("%s: the question shows %+v, want the whole text", name, q.Preview)
			}
			if _, err := os.Stat(path); err == nil {
				t.Errorf("%s: the file exists before the answer", name)
			}
			p.answer(q, decision)
			answer, isWritten := <-done, false
			if content, err := os.ReadFile(path); err == nil {
				isWritten = string(content) == text
			}
			if want := map[string]string{"deny": "permission_denied", "allow": ""}[decision]; code(answer) != want || isWritten != (want == "") {
				t.Errorf("%s, %s: got %s, written %v; want code %q, and the file written only without one", name, decision, answer, isWritten, want)
			}
			if list, _ := filepath.Glob(filepath.Join(p.workspace, ".fairlead-*")); len(list) != 0 {
				t.Errorf("%s, %s: left behind %v", name, decision, list)
			}
		}
		if e := p.entry("fs_write"); e.Status != protocol.CallDone || e.ApprovalID == "" || !strings.Contains(string(e.Input), `"sha256"`) {
			t.Errorf("%s: the journal has %+v, want the call with the checksum", name, e)
		}
	}
}

func TestWriteStopsAtANewDenyRule(t *testing.T) {
	p := openPrograms(t)
	token, call := p.token("A", protocol.ScopeFilesWrite), p.surfaces()["REST"]
	path := filepath.Join(p.workspace, "a.txt")
	last := p.collect(call, token, path, "text in three parts")
	p.deny(fmt.Sprintf(`{"tool":"Write","path":%q,"verdict":"deny"}`, path))
	if _, answer, _ := call(token, "fs_write", last); code(answer) != "permission_denied" {
		t.Errorf("after a deny rule: got %s, want permission_denied", answer)
	}
	if _, answer, _ := call(token, "fs_write", fmt.Sprintf(`{"target":{"node_name":"box"},"path":%q,"chunk":"x"}`, path)); code(answer) != "permission_denied" {
		t.Errorf("a new file: got %s, want permission_denied", answer)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file exists")
	}
}

func TestDownloadIsShownBeforeItTakesEffect(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "downloaded\n") }))
	defer s.Close()
	p := openPrograms(t)
	token, call := p.token("A", protocol.ScopeFilesWrite), p.surfaces()["MCP"]
	path := filepath.Join(p.workspace, "a.txt")
	done := callInBackground(call, token, "file", fmt.Sprintf(`{"op":"fetch_url","target":{"node_name":"box"},"path":%q,"url":%q}`, path, s.URL+"/x"))
	q := p.question()
	if q.Tool != "fs_fetch" || !strings.Contains(string(q.Args), s.URL) {
		t.Errorf("the first question is about %s %s, want the address", q.Tool, q.Args)
	}
	p.answer(q, "allow")
	p.until("another question or the end", func() bool { l := p.pending(); return len(l) == 1 && l[0].ID != q.ID || len(done) > 0 })
	if len(done) > 0 {
		t.Fatalf("got %s without a second question, want none", <-done)
	}
	q = p.pending()[0]
	if _, err := os.Stat(path); err == nil || q.Tool != "fs_write" || !strings.Contains(q.Preview.Diff, "+downloaded") {
		t.Errorf("the second question is about %s %+v, want the content before it is there (%v)", q.Tool, q.Preview, err)
	}
	p.answer(q, "allow")
	if answer := <-done; code(answer) != "" || !strings.Contains(answer, "sha256") {
		t.Errorf("got %s, want the checksum", answer)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "downloaded\n" {
		t.Errorf(`got %q, %v; want no error and content "downloaded\n"`, content, err)
	}
}
