package tool_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
	"fairlead/gateway/tool/tooltest"
)

func writeAccess(path string) tool.FileAccess {
	return tool.FileAccess{Endpoint: protocol.Endpoint{Node: "tower", Path: path}, Tool: "Write", Effect: protocol.EffectWrite}
}

func trashCall(path string) tool.Call {
	args, _ := json.Marshal(protocol.FilesTrashParams{Paths: []string{path}})
	return tool.Call{
		Tool: protocol.NewToolName("tower", protocol.ActTrash), Args: args, Direct: true,
		Principal:     auth.Owner("window"),
		FileOperation: &tool.FileOperation{Node: "tower", Effect: protocol.EffectWrite, Files: []tool.FileAccess{writeAccess(path)}},
	}
}

func TestAFileOperationIsDoneAtOnceAndInTheJournal(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	c := trashCall("notes.txt")
	res, err := g.Run(t.Context(), c)
	if err != nil || res.Info.State != protocol.CallDone || string(res.Raw) != `"ok"` {
		t.Fatalf("got %v, %v; want no error, Info.State CallDone and Raw `\"ok\"`", res, err)
	}
	g.noQuestions()
	if row := g.storedCall(res.Info.CallID); row.Info.Tool != protocol.ActTrash || !row.Info.Direct || !strings.Contains(string(row.Info.Args), "notes.txt") {
		t.Errorf(`got %+v; want Info.Tool ActTrash, Info.Direct and "notes.txt" in Info.Args`, row)
	}
	if calls := g.tower.Calls(); len(calls) != 1 || calls[0].Tool != protocol.ActTrash {
		t.Errorf("got %+v; want length 1 and calls[0].Tool ActTrash", calls)
	}
}

func TestAFileOperationIsStoppedByARuleThatDenies(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	g.rule(`{"tool":"Write","path":"/srv/keep/**","verdict":"deny","reason":"these stay"}`)
	res, err := g.Run(t.Context(), trashCall("/srv/keep/a.txt"))
	if err != nil || res.Info.State != protocol.CallDenied || !strings.Contains(res.Info.Error, "these stay") {
		t.Errorf(`got %+v, %v; want no error, Info.State CallDenied and "these stay" in Info.Error`, res.Info, err)
	}
	both := trashCall("/srv/other.txt")
	both.FileOperation.Files = []tool.FileAccess{writeAccess("/srv/other.txt"), writeAccess("/srv/keep/a.txt")}
	if res, err := g.Run(t.Context(), both); err != nil || res.Info.State != protocol.CallDenied {
		t.Errorf("one of two: %+v, %v", res.Info, err)
	}
	if res, err := g.Run(t.Context(), trashCall("/srv/other.txt")); err != nil || res.Info.State != protocol.CallDone {
		t.Errorf("another: got %+v, %v; want no error and Info.State CallDone", res.Info, err)
	}
	if calls := g.tower.Calls(); len(calls) != 1 {
		t.Errorf("%d calls arrived, want 1", len(calls))
	}
}

func TestTheAgentHasNoFileOperations(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	c := trashCall("a.txt")
	c.Direct, c.Session, c.Run = false, chat, "run"
	if _, err := g.Run(t.Context(), c); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("as a file operation: %v", err)
	}
	c.FileOperation = nil
	if _, err := g.Run(t.Context(), c); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("as a tool: %v", err)
	}
	if calls := g.tower.Calls(); len(calls) != 0 {
		t.Errorf("got %+v; want no calls", calls)
	}
}

func TestFolderWithAProtectedFileIsNotDeleted(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	g.rule(`{"tool":"Write","path":"/srv/app/keep/a.txt","verdict":"deny","reason":"it stays"}`)
	c := trashCall("/srv/app")
	c.FileOperation.Files[0].IsWhole = true
	res, err := g.Run(t.Context(), c)
	if err != nil || res.Info.State != protocol.CallDenied || !strings.Contains(res.Info.Error, "/srv/app/keep/a.txt") || !strings.Contains(res.Info.Error, "it stays") {
		t.Errorf(`got %+v, %v; want no error, Info.State CallDenied, "/srv/app/keep/a.txt" in Info.Error and "it stays" in Info.Error`, res.Info, err)
	}
	c = trashCall("/srv/app/other")
	c.FileOperation.Files[0].IsWhole = true
	if res, err := g.Run(t.Context(), c); err != nil || res.Info.State != protocol.CallDone {
		t.Errorf("another: got %+v, %v; want no error and Info.State CallDone", res.Info, err)
	}
}
