//go:build unix

package gateway_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// batchArgs are the arguments of a batch that creates a folder, writes two files, edits one, and
// deletes one.
func (p *programs) batchArgs() (args string) {
	p.t.Helper()
	for name, text := range map[string]string{"old.txt": "old\n", "gone.txt": "gone\n"} {
		if err := os.WriteFile(filepath.Join(p.workspace, name), []byte(text), 0o644); err != nil {
			p.t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(p.workspace, name) }
	return fmt.Sprintf(`{"target":{"node_name":"box"},"op":"batch","ops":[{"op":"mkdir","path":%q},{"op":"write","path":%q,"chunk":"one\n"},
		{"op":"write","path":%q,"chunk_b64":"AP8AAQ=="},{"op":"edit","path":%q,"old_string":"old","new_string":"new"},{"op":"delete","path":%q}]}`,
		at("d"), at("d/a.txt"), at("b.bin"), at("old.txt"), at("gone.txt"))
}

// outcomes returns the codes of the operations of a batch; "" for one that succeeded.
func outcomes(t *testing.T, answer string) (list []string) {
	t.Helper()
	_, body, _ := strings.Cut(answer, `"batch_results":`)
	var results []struct{ Error *protocol.Fault }
	if err := json.NewDecoder(strings.NewReader(body)).Decode(&results); err != nil {
		t.Fatalf("results of a batch: got %s: %v", answer, err)
	}
	for _, r := range results {
		if r.Error != nil {
			list = append(list, string(r.Error.Code))
		} else {
			list = append(list, "")
		}
	}
	return list
}

func (p *programs) files() string {
	p.t.Helper()
	var list []string
	for _, name := range []string{"d/a.txt", "b.bin", "old.txt", "gone.txt"} {
		content, err := os.ReadFile(filepath.Join(p.workspace, name))
		if err != nil {
			content = []byte("absent")
		}
		list = append(list, strings.TrimSpace(string(content)))
	}
	return strings.Join(list, ",")
}

func TestBatchIsOneQuestion(t *testing.T) {
	const before, after = "absent,absent,old,gone", "one,\x00\xff\x00\x01,new,absent"
	p := openPrograms(t)
	token, call := p.token("A", protocol.ScopeFilesWrite), p.surfaces()["REST"]
	for _, decision := range []string{"deny", "allow"} {
		done := callInBackground(call, token, "file", p.batchArgs())
		q := p.question()
		for _, want := range []string{"+one", "-old", "+new"} {
			if q.Tool != protocol.BatchTool || !strings.Contains(q.Preview.Diff, want) {
				t.Errorf("question about %s: got the change %q, want %q in it", q.Tool, q.Preview.Diff, want)
			}
		}
		for _, want := range []string{"Create folder ", "b.bin (4 ", "SHA-256 ", "Delete ", "gone.txt"} {
			if !strings.Contains(string(q.Args), want) {
				t.Errorf("question: got %s, want %q in it", q.Args, want)
			}
		}
		if got := p.files(); got != before {
			t.Errorf("files before the answer: got %q, want %q", got, before)
		}
		p.answer(q, decision)
		answer, want := <-done, before
		if decision == "allow" {
			want = after
			if got := strings.Join(outcomes(t, answer), ","); got != ",,,," {
				t.Errorf("allowed batch: got %s, want no failure", answer)
			}
		} else if code(answer) != "permission_denied" {
			t.Errorf("denied batch: got %s, want permission_denied", answer)
		}
		if got := p.files(); got != want {
			t.Errorf("files after %s: got %q, want %q", decision, got, want)
		}
		if e := p.entry("fs_write"); e.ApprovalID != q.ID || (e.Status == protocol.CallDone) != (decision == "allow") {
			t.Errorf("journal after %s: got %+v, want the call with the question of the batch", decision, e)
		}
	}
}

// What the person saw is what is written: a file that changed meanwhile has its own question.
func TestBatchAsksAgainAboutAChangedFile(t *testing.T) {
	p := openPrograms(t)
	token, call := p.token("A", protocol.ScopeFilesWrite), p.surfaces()["MCP"]
	done := callInBackground(call, token, "file", p.batchArgs())
	q := p.question()
	if err := os.WriteFile(filepath.Join(p.workspace, "old.txt"), []byte("old and more\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.answer(q, "allow")
	p.until("a question about the changed file", func() bool { l := p.pending(); return len(l) == 1 && l[0].ID != q.ID })
	next := p.pending()[0]
	if next.Tool != "Edit" || !strings.Contains(next.Preview.Diff, "+new and more") {
		t.Errorf("question: got %s %+v, want the changed file", next.Tool, next.Preview)
	}
	p.answer(next, "deny")
	answer := <-done
	if got := strings.Join(outcomes(t, answer), ","); got != ",,,permission_denied," {
		t.Errorf("batch: got %s, want the one failure", answer)
	}
	if got, want := p.files(), "one,\x00\xff\x00\x01,old and more,absent"; got != want {
		t.Errorf("files: got %q, want %q", got, want)
	}
}

// A new deny rule counts also after the answer, and a call that a rule denies is not asked about.
func TestBatchIsJudgedByTheRulesOfNow(t *testing.T) {
	p := openPrograms(t)
	token, call := p.token("A", protocol.ScopeFilesWrite), p.surfaces()["REST"]
	p.deny(fmt.Sprintf(`{"tool":"Write","path":%q,"verdict":"deny"}`, filepath.Join(p.workspace, "b.bin")))
	done := callInBackground(call, token, "file", p.batchArgs())
	q := p.question()
	if strings.Contains(string(q.Args), "b.bin") {
		t.Errorf("question: got %s, want it without the denied file", q.Args)
	}
	p.answer(q, "allow")
	answer := <-done
	if got := strings.Join(outcomes(t, answer), ","); got != ",,permission_denied,," {
		t.Errorf("batch: got %s, want the denied file to fail", answer)
	}
}

// Nothing about a file takes it out of the one question: start-up files, credentials, changes of
// any size and downloads are in it.
func TestBatchQuestionHasEveryKindOfFile(t *testing.T) {
	p := openPrograms(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "content") }))
	defer s.Close()
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("content")))
	at := func(name string) string { return filepath.Join(p.workspace, name) }
	var large []string
	for i := range 6 {
		large = append(large, fmt.Sprintf(`{"op":"write","path":%q,"chunk":%q}`, at(fmt.Sprint("large", i)), strings.Repeat(fmt.Sprintf("line %d\n", i), 8000)))
	}
	ops := fmt.Sprintf(`{"op":"write","path":%q,"chunk":"[core]\n"},{"op":"write","path":%q,"chunk":"KEY=1\n"},{"op":"fetch_url","path":%q,"url":%q,"headers":{"X-For":"me"},"expected_sha256":%q},`,
		at(".gitconfig"), at("id_rsa"), at("got"), s.URL+"/x", sum) + strings.Join(large, ",")
	token, call := p.token("A", protocol.ScopeFilesWrite), p.surfaces()["REST"]
	done := callInBackground(call, token, "file", `{"target":{"node_name":"box"},"op":"batch","ops":[`+ops+`]}`)
	q := p.question()
	for _, want := range []string{".gitconfig", "id_rsa", "Download " + s.URL + "/x to ", "X-For: me", sum, "large5"} {
		if !strings.Contains(string(q.Args), want) {
			t.Errorf("question: got %.300s, want %q in it", q.Args, want)
		}
	}
	for _, want := range []string{"+[core]", "+KEY=1", "+line 5"} {
		if !strings.Contains(q.Preview.Diff, want) {
			t.Errorf("change: got %d bytes, want %q in it", len(q.Preview.Diff), want)
		}
	}
	if !q.Floor || q.Preview.Secret == "" || !q.Preview.Network || slices.Contains(q.Choices, protocol.ScopeSession) {
		t.Errorf("question: got floor %v, secret %q, network %v, choices %v; want Floor, some Preview.Secret, Preview.Network and no ScopeSession in Choices", q.Floor, q.Preview.Secret, q.Preview.Network, q.Choices)
	}
	p.answer(q, "allow")
	answer := <-done
	if got := strings.Trim(strings.Join(outcomes(t, answer), ","), ","); got != "" {
		t.Errorf("batch: got the failures %s in %.500s, want none", got, answer)
	}
	if got, err := os.ReadFile(at("got")); string(got) != "content" {
		t.Errorf(`download: got %q, %v; want "content"`, got, err)
	}
}

// An answer for the app is the same permissions as after a question about each file.
func TestBatchIsAllowedForTheApp(t *testing.T) {
	p := openPrograms(t)
	at := func(name string) string { return filepath.Join(p.workspace, name) }
	batch := func(text string) string {
		return fmt.Sprintf(`{"target":{"node_name":"box"},"op":"batch","ops":[{"op":"write","path":%q,"chunk":%q},{"op":"write","path":%q,"chunk":%q}]}`, at("a"), text, at("b"), text)
	}
	token, call := p.token("A", protocol.ScopeFilesWrite), p.surfaces()["REST"]
	done := callInBackground(call, token, "file", batch("one"))
	q := p.question()
	if want := "any fs_write of " + at("a") + "; any fs_write of " + at("b"); !slices.Contains(q.Choices, protocol.ScopeSession) || q.SessionRule != want {
		t.Fatalf("question: got %v and %q, want the choice for the app and %q", q.Choices, q.SessionRule, want)
	}
	ask(p.accessGateway, protocol.QuestionAnswer, protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: protocol.DecisionAllow, Scope: protocol.ScopeSession})
	<-done
	answer := <-callInBackground(call, token, "file", batch("two"))
	if got, _ := os.ReadFile(at("b")); string(got) != "two" || len(p.pending()) != 0 {
		t.Errorf("second batch: got %q, %d questions and %s, want no question", got, len(p.pending()), answer)
	}
}
