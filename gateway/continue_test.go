//go:build unix

package gateway_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// deny adds a rule that denies calls.
func (p *programs) deny(policy string) {
	p.t.Helper()
	ask(p.accessGateway, protocol.RulePut, protocol.RulePutParams{Policy: json.RawMessage(policy)})
}

// entry returns the journal's last entry of a tool.
func (p *programs) entry(tool string) protocol.JournalEntry {
	p.t.Helper()
	list := ask(p.accessGateway, protocol.JournalList, protocol.JournalListParams{Tool: tool, Limit: 1}).Calls
	if len(list) != 1 {
		p.t.Fatalf("the journal has %d entries of %s, want 1", len(list), tool)
	}
	return list[0]
}

// field returns a text of an answer; empty without it.
func field(answer, name string) string {
	_, rest, _ := strings.Cut(strings.ReplaceAll(answer, `\"`, `"`), `"`+name+`":"`)
	found, _, _ := strings.Cut(rest, `"`)
	return found
}

// forgetRules deletes every rule.
func (p *programs) forgetRules() {
	p.t.Helper()
	for _, r := range ask(p.accessGateway, protocol.RulesList, protocol.Empty{}).Rules {
		ask(p.accessGateway, protocol.RuleDelete, protocol.RuleParams{ID: r.ID})
	}
}

func TestReadStopsAtANewDenyRule(t *testing.T) {
	p := openPrograms(t)
	content := bytes.Repeat([]byte("0123456789abcdef"), 3<<16)
	path := filepath.Join(p.workspace, "big.bin")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	token := p.token("A", protocol.ScopeFilesRead)
	for name, call := range p.surfaces() {
		_, answer, _ := call(token, "fs_read", fmt.Sprintf(`{"target":{"node_name":"box"},"path":%q,"max_bytes":1000}`, path))
		next := fmt.Sprintf(`{"file_id":%q,"max_bytes":1000000}`, field(answer, "file_id"))
		if status, answer, _ := call(token, "fs_read", next); status != http.StatusOK || code(answer) != "" {
			t.Fatalf("%s, second part: got %d %.200s, want 200", name, status, answer)
		}
		sum := sha256.Sum256(content[:1_001_000])
		if c := p.entry("fs_read").Continued; c == nil || c.Steps != 1 || c.Bytes != 1_000_000 || c.SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: the journal has %+v, want one step with 1,000,000 bytes and their checksum", name, c)
		}
		p.deny(fmt.Sprintf(`{"tool":"Read","path":%q,"verdict":"deny"}`, path))
		if _, answer, _ := call(token, "fs_read", next); code(answer) != "permission_denied" {
			t.Errorf("%s, after a deny rule: got %.200s, want permission_denied", name, answer)
		}
		if c := p.entry("fs_read").Continued; c.Steps != 1 {
			t.Errorf("%s: the journal has %+v, want one step", name, c)
		}
		p.forgetRules()
	}
}

func TestCommandStopsAtANewDenyRule(t *testing.T) {
	p := openPrograms(t)
	token, call := p.token("A", protocol.ScopeShell), p.surfaces()["REST"]
	result := make(chan string, 1)
	go func() {
		_, answer, _ := call(token, "command", `{"session":{"node_name":"box","command":"echo one; cat"},"idle_timeout":1}`)
		result <- answer
	}()
	p.allow()
	answer := <-result
	id := field(answer, "command_id")
	if id == "" {
		t.Fatalf("got %s, want some id", answer)
	}
	signal := fmt.Sprintf(`{"command_id":%q,"signal":"SIGHUP","idle_timeout":0}`, id)
	p.deny(`{"tool":"Bash","argv":["cat","**"],"verdict":"deny"}`)
	for _, args := range []string{signal, fmt.Sprintf(`{"command_id":%q,"idle_timeout":0}`, id)} {
		if _, answer, _ := call(token, "command", args); code(answer) != "permission_denied" {
			t.Errorf("%s after a deny rule: got %s, want permission_denied", args, answer)
		}
	}
	p.forgetRules()
	if status, answer, _ := call(token, "command", signal); status != http.StatusOK || !strings.Contains(answer, `"state"`) {
		t.Errorf("without the rule: got %d %s, want 200", status, answer)
	}
	if c := p.entry("command").Continued; c == nil || c.Steps != 1 {
		t.Errorf("the journal has %+v, want the signal", c)
	}
}
