package tool_test

import (
	"encoding/json"
	"slices"
	"testing"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
	"fairlead/gateway/tool/tooltest"
)

var (
	other = protocol.FolderAccess{Path: "/srv/other", Write: true}
	keys  = protocol.FolderAccess{Path: "/home/ann/.ssh", Warning: "it holds keys or tokens"}
)

// outside returns a gateway with a machine whose calls need two folders outside the workspace.
func outside(t *testing.T) *gateway {
	return start(t, &tooltest.Machine{Preview: func(protocol.ToolInvoke) protocol.CallPreview {
		return protocol.CallPreview{Folder: "/srv/app", Outside: true, Folders: []protocol.FolderAccess{other, keys}}
	}})
}

// lastInvocation returns the invocation that the machine received.
func (g *gateway) lastInvocation() (inv protocol.ToolInvoke) {
	g.t.Helper()
	calls := g.tower.Calls()
	if len(calls) == 0 {
		g.t.Fatal("nothing ran")
	}
	return calls[len(calls)-1]
}

func (g *gateway) checkBound(inv protocol.ToolInvoke) {
	g.t.Helper()
	p := protocol.CallPreview{Folder: "/srv/app", Outside: true, Folders: []protocol.FolderAccess{other, keys}}
	want, err := protocol.CallHash(protocol.AskCall, "tower", inv.Tool, inv.Args, &p, inv.Policy, inv.Folders...)
	if err != nil || inv.Approved != want {
		g.t.Errorf("what the machine compares is not bound to the folders: %v", err)
	}
}

func TestCommandIsGivenTheFoldersThatThePersonChose(t *testing.T) {
	g := outside(t)
	sub := g.bus.Subscribe()
	defer sub.Close()
	end := g.runInBackground(t.Context(), command("a", "cp x /srv/other"))
	q := g.question(sub)
	if _, err := g.gate.Answer(t.Context(), auth.Owner("ann"), protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: protocol.DecisionAllow, Access: []int{2}}); err == nil {
		t.Error("a folder that was not offered is taken")
	}
	if r, err := g.gate.Answer(t.Context(), auth.Owner("ann"), protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: protocol.DecisionAllow, Access: []int{0}}); err != nil || !r.Won {
		t.Fatalf("got %v; want no error and Won", err)
	}
	waitResult(t, end)
	inv := g.lastInvocation()
	if len(inv.Folders) != 1 || inv.Folders[0] != other {
		t.Errorf("opened: got %+v; want length 1 and Folders[0] %v", inv.Folders, other)
	}
	g.checkBound(inv)
	g.ask(command("b", "cp x /srv/other"), protocol.DecisionAllow, protocol.ScopeOnce, "")
	if inv := g.lastInvocation(); len(inv.Folders) != 0 {
		t.Errorf("a plain allow opened %+v, want no folder", inv.Folders)
	}
}

func TestFileToolIsGivenItsFolderWithTheAllow(t *testing.T) {
	g := outside(t)
	write := tool.Call{ID: "a", Tool: "tower__Write", Args: json.RawMessage(`{"path":"/srv/other/x","content":"y"}`), Session: chat, Run: "run"}
	g.ask(write, protocol.DecisionAllow, protocol.ScopeOnce, "")
	inv := g.lastInvocation()
	if len(inv.Folders) != 2 {
		t.Errorf("opened: got %+v, want length 2", inv.Folders)
	}
	g.checkBound(inv)
	write.ID, write.Direct = "own", true
	g.mustRun(write)
	if inv = g.lastInvocation(); len(inv.Folders) != 2 {
		t.Errorf("folders opened for the person's own call: got %+v, want both", inv.Folders)
	}
	g.checkBound(inv)
	write.Direct = false
	// Without an approval, no folder with a warning is opened.
	if _, err := g.rules.Put(t.Context(), "ann", protocol.RulePutParams{Policy: json.RawMessage(`{"tool":"Write","verdict":"allow"}`)}); err != nil {
		t.Fatal(err)
	}
	write.ID = "b"
	g.mustRun(write)
	inv = g.lastInvocation()
	if len(inv.Folders) != 1 || inv.Folders[0] != other {
		t.Errorf("a rule opened %+v, want %+v alone", inv.Folders, other)
	}
	g.checkBound(inv)
}

func TestUnaskedReadIsBoundToItsResolvedPath(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	g.mustRun(tool.Call{ID: "a", Tool: "tower__Read", Args: json.RawMessage(`{"path":"x"}`), Session: chat})
	inv, p := g.lastInvocation(), protocol.CallPreview{Path: "/home/ann/x", FileSHA256: "sum of x"}
	want, err := protocol.CallHash(protocol.AskCall, "tower", "Read", inv.Args, &p, inv.Policy)
	if err != nil || inv.Approved != want {
		t.Errorf("got %+v, %v; want no error and Approved %v", inv, err, want)
	}
	g.mustRun(tool.Call{ID: "b", Tool: "tower__Read", Args: json.RawMessage(`{"path":"x"}`), Session: chat, Direct: true})
	if inv := g.lastInvocation(); inv.Approved != "" {
		t.Errorf("the person's own read is bound: %+v", inv)
	}
}

func TestCommandMayChangeWhatItsQuestionNamed(t *testing.T) {
	g := start(t, &tooltest.Machine{Preview: func(protocol.ToolInvoke) protocol.CallPreview {
		return protocol.CallPreview{Folder: "/srv/app", Shell: "bash"}
	}})
	sub := g.bus.Subscribe()
	defer sub.Close()
	end := g.runInBackground(t.Context(), command("a", "touch .envrc .npmrc x"))
	q := g.question(sub)
	want := []string{"/srv/app/.envrc", "/srv/app/.npmrc"}
	if len(q.Parts) != 1 || !slices.Equal(q.Parts[0].Changes, want) {
		t.Errorf("the question shows %+v, want the changes %q", q.Parts, want)
	}
	if r, err := g.gate.Answer(t.Context(), auth.Owner("ann"), protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: protocol.DecisionAllow}); err != nil || !r.Won {
		t.Fatalf("got %v; want no error and Won", err)
	}
	waitResult(t, end)
	if inv := g.lastInvocation(); !slices.Equal(inv.Lifts, want) {
		t.Errorf("the machine got the lifts %q, want %q", inv.Lifts, want)
	}
	g.ask(command("b", "make"), protocol.DecisionAllow, protocol.ScopeOnce, "")
	if inv := g.lastInvocation(); inv.Lifts != nil {
		t.Errorf("another command got the lifts %q", inv.Lifts)
	}
}
