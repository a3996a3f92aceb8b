package gateway

import (
	"encoding/base64"
	"errors"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/workspace"
)

func TestAnAgentSendsFilesOfItsOwnWorkspaceAlone(t *testing.T) {
	g := &Gateway{files: workspace.NewFiles(t.TempDir())}
	for agent, text := range map[protocol.AgentID]string{"main": "of main", "work": "of work"} {
		if _, err := g.files.Write(agent, "out/plan.txt", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := g.attached("work", []string{"out/plan.txt"})
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	data, _ := base64.StdEncoding.DecodeString(list[0].Data)
	if m := list[0]; string(data) != "of work" || m.Filename != "plan.txt" || m.MimeType != "text/plain" || m.Type != "document" || m.Size != 7 {
		t.Errorf("%+v %q", m, data)
	}
	if _, err := g.files.Write("work", "big", make([]byte, 6<<20)); err != nil {
		t.Fatal(err)
	}
	for want, paths := range map[*protocol.Error][]string{
		protocol.ErrNotFound:   {"none.txt"},
		protocol.ErrBadRequest: {"out"},
		protocol.ErrTooLarge:   {"big", "big"},
	} {
		if _, err := g.attached("work", paths); !errors.Is(err, want) {
			t.Errorf("%q: %v", paths, err)
		}
	}
	if _, err := g.attached("work", make([]string, maxAttached+1)); !errors.Is(err, protocol.ErrTooLarge) {
		t.Error(err)
	}
	if _, err := g.attached("work", []string{"../main/out/plan.txt"}); err == nil {
		t.Error("a file of another agent")
	}
}
