package policy

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

// attack is a line of testdata/attacks.jsonl: a command that the policy must not allow, or a file
// that a chat which may change files must not change without an approval.
type attack struct {
	Policy  json.RawMessage
	Shell   string
	Command string
	Path    string
	Why     string
}

func TestAttacksNeedAnApproval(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/attacks.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var a attack
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		t.Run(a.Shell+" "+a.Command+a.Path, func(t *testing.T) {
			if a.Path != "" {
				d := Policy{Rules: must(t, `{"rules":[]}`)}.Decide(writeRequest(a.Path, protocol.ModeAcceptEdits))
				if d.Verdict == Allow {
					t.Errorf("got allow (%s), want an approval: %s", d.Reason, a.Why)
				}
				return
			}
			for _, call := range []Call{corpusCall(a.Shell, a.Command), containedCall(a.Shell, a.Command)} {
				if d := must(t, string(a.Policy)).Decide(call); d.Verdict == Allow {
					t.Errorf("contained %v: got allow (%s), want an approval: %s", call.Contained, d.Reason, a.Why)
				}
			}
		})
	}
}

// writeRequest is a call of an agent that writes a file of the workspace.
func writeRequest(path, mode string) Request {
	args, _ := json.Marshal(map[string]string{"path": path})
	return Request{
		Node: "box", Bare: "Write", Effect: protocol.EffectWrite, Args: args, Session: "agent:main:main",
		Host:    protectedHost(true),
		Preview: &protocol.CallPreview{Path: corpusCwd + "/" + path},
		Mode:    protocol.ApprovalMode{Mode: mode, Until: time.Now().Add(time.Hour).UnixMilli()},
	}
}

func protectedHost(enforced bool) *protocol.HostInfo {
	checks := []protocol.EnforcedCheck{{ID: protocol.ProtectedCheck, Enforced: enforced, Why: "no mount name spaces"}}
	return &protocol.HostInfo{Workspace: corpusCwd, Home: corpusHome, Enforcement: &protocol.Enforcement{Mode: "workspace-write", Checks: checks}}
}

// Where nothing protects the files of the floor while a command runs, trust covers only what can be
// read.
func TestTrustCoversUnreadCommandsOnlyOnProtectedMachines(t *testing.T) {
	t.Parallel()
	for command, isRead := range map[string]bool{
		"ls": true, "git status && grep -rn x .": true, "mkdir -p a && touch a/b": true, "go build ./...": true,
		"make": false, "./tool": false, "python3 x.py": false, "npm test": false, "$X": false, "python3 -c 'print(1)'": false, "f() { ls; }; f": false,
	} {
		for name, rules := range map[string]string{"trust": `{"rules":[]}`, "default": `{"default":"allow","rules":[]}`} {
			for _, isProtected := range []bool{true, false} {
				q := writeRequest("", protocol.ModeTrust)
				if name == "default" {
					q.Mode = protocol.ApprovalMode{}
				}
				q.Bare, q.Effect, q.Host, q.Preview = "Bash", protocol.EffectExec, protectedHost(isProtected), &protocol.CallPreview{Folder: corpusCwd, Shell: "bash"}
				q.Args, _ = json.Marshal(map[string]string{"command": command})
				d := Policy{Rules: must(t, rules)}.Decide(q)
				switch {
				case isRead && d.Verdict != Allow:
					t.Errorf("%s, protected %v: %q: got %s (%s), want allow", name, isProtected, command, d.Verdict, d.Reason)
				case !isRead && !isProtected && (d.Verdict != Ask || name == "trust" && !strings.Contains(d.Reason, "no mount name spaces")):
					t.Errorf("%s, not protected: %q: got %s (%s), want a question that says what is missing", name, command, d.Verdict, d.Reason)
				case !isRead && isProtected && name == "trust" && d.Verdict != Allow:
					t.Errorf("trust, protected: %q: got %s (%s), want allow", command, d.Verdict, d.Reason)
				}
			}
		}
	}
}

func TestTrustDoesNotCoverWhatDirectsTheAgent(t *testing.T) {
	t.Parallel()
	p := Policy{Rules: must(t, `{"rules":[]}`)}
	for path, want := range map[string]Verdict{
		"SOUL.md": Ask, "./soul.md": Ask, "/SOUL.md": Ask, "skills/a/SKILL.md": Ask, "memory/../AGENTS.md": Ask,
		"MEMORY.md": Allow, "memory/2026-01-02.md": Allow, "notes/SOUL.md": Allow,
	} {
		q := writeRequest(path, protocol.ModeTrust)
		q.Node, q.Bare, q.Host, q.Preview.Path = protocol.NativePrefix, "WriteFile", nil, path
		if d := p.Decide(q); d.Verdict != want {
			t.Errorf("%s: got %s (%s), want %s", path, d.Verdict, d.Reason, want)
		}
	}
}

func TestTrustAsksForProtectedFilesInWords(t *testing.T) {
	t.Parallel()
	p := Policy{Rules: must(t, `{"rules":[]}`)}
	for command, want := range map[string]Verdict{
		"./tool --log=.envrc": Ask, "sort -o.git/config f": Ask, "cat .envrc": Allow, "./tool notes.txt": Allow,
	} {
		q := writeRequest("", protocol.ModeTrust)
		q.Bare, q.Effect, q.Preview = "Bash", protocol.EffectExec, &protocol.CallPreview{Folder: corpusCwd, Shell: "bash"}
		q.Args, _ = json.Marshal(map[string]string{"command": command})
		if d := p.Decide(q); d.Verdict != want {
			t.Errorf("%s: got %s (%s), want %s", command, d.Verdict, d.Reason, want)
		}
	}
}
