package channel

import (
	"encoding/base64"
	"errors"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/workspace"
)

func TestAnAgentSendsFilesOfItsOwnWorkspaceAlone(t *testing.T) {
	t.Parallel()
	files := workspace.NewFiles(t.TempDir(), nil)
	for agent, text := range map[protocol.AgentID]string{"main": "of main", "work": "of work"} {
		if _, err := files.Write(agent, "out/plan.txt", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := attach(files, "work", []string{"out/plan.txt"})
	if err != nil || len(list) != 1 {
		t.Fatalf("got %v, error %v, want one file", list, err)
	}
	data, _ := base64.StdEncoding.DecodeString(list[0].Data)
	if m := list[0]; string(data) != "of work" || m.Filename != "plan.txt" || m.MimeType != "text/plain" || m.Type != "document" || m.Size != 7 {
		t.Errorf("got %+v with data %q, want plan.txt of 7 bytes", m, data)
	}
	if _, err := files.Write("work", "big", make([]byte, 6<<20)); err != nil {
		t.Fatal(err)
	}
	for want, paths := range map[*protocol.Error][]string{
		protocol.ErrNotFound:   {"none.txt"},
		protocol.ErrBadRequest: {"out"},
		protocol.ErrTooLarge:   {"big", "big"},
	} {
		if _, err := attach(files, "work", paths); !errors.Is(err, want) {
			t.Errorf("%q: got %v, want %v", paths, err, want)
		}
	}
	if _, err := attach(files, "work", make([]string, maxAttached+1)); !errors.Is(err, protocol.ErrTooLarge) {
		t.Errorf("too many files: got %v, want %v", err, protocol.ErrTooLarge)
	}
	if _, err := attach(files, "work", []string{"../main/out/plan.txt"}); err == nil {
		t.Error("the agent could attach a file of another agent")
	}
}
