//go:build unix

package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/protocol"
)

// badPaths are the arguments of every tool that takes a path or a name, with BAD in its place.
var badPaths = map[string][]string{
	"fs_read":   {`{"target":T,"path":"BAD"}`},
	"fs_write":  {`{"target":T,"path":"BAD","encoding":"utf8","chunk":"x","done":true}`},
	"fs_edit":   {`{"target":T,"path":"BAD","old_string":"a","new_string":"b"}`},
	"fs_list":   {`{"target":T,"path":"BAD"}`},
	"fs_stat":   {`{"target":T,"path":"BAD"}`},
	"fs_delete": {`{"target":T,"path":"BAD"}`},
	"fs_mkdir":  {`{"target":T,"path":"BAD"}`},
	"fs_glob":   {`{"target":T,"path":"BAD","pattern":"*"}`, `{"target":T,"path":"DIR","pattern":"BAD"}`},
	"fs_grep":   {`{"target":T,"path":"BAD","pattern":"x"}`, `{"target":T,"path":"DIR","pattern":"x","include":"BAD"}`},
	"file": {
		`{"op":"read","target":T,"path":"BAD"}`, `{"op":"write","target":T,"path":"BAD","encoding":"utf8","chunk":"x","done":true}`,
		`{"op":"edit","target":T,"path":"BAD","old_string":"a","new_string":"b"}`, `{"op":"list","target":T,"path":"BAD"}`, `{"op":"stat","target":T,"path":"BAD"}`,
		`{"op":"delete","target":T,"path":"BAD"}`, `{"op":"mkdir","target":T,"path":"BAD"}`, `{"op":"fetch_url","target":T,"path":"BAD","url":"http://127.0.0.1:1/"}`,
	},
	"command":         {`{"session":{"node_name":"box","command":"true","workdir":"BAD"}}`, `{"session":{"node_name":"box","command":"echo BAD"}}`},
	"gsv__ReadFile":   {`{"path":"BAD"}`},
	"gsv__WriteFile":  {`{"path":"BAD","content":"x"}`},
	"gsv__EditFile":   {`{"path":"BAD","oldString":"a","newString":"b"}`},
	"gsv__DeleteFile": {`{"path":"BAD"}`},
	"gsv__Transfer":   {`{"source":"box:BAD","destination":"gsv:x"}`, `{"source":"gsv:BAD","destination":"box:x"}`, `{"source":"box:k.txt","destination":"box:BAD"}`, `{"source":"box:k.txt","destination":"gsv:BAD"}`},
	"box__Read":       {`{"path":"BAD"}`},
	"box__Write":      {`{"path":"BAD","content":"x"}`},
	"box__Edit":       {`{"path":"BAD","oldString":"a","newString":"b"}`},
	"box__Glob":       {`{"pattern":"BAD"}`, `{"pattern":"*","path":"BAD"}`},
	"box__Grep":       {`{"pattern":"x","path":"BAD"}`, `{"pattern":"x","include":"BAD"}`},
	"box__Bash":       {`{"command":"true","workdir":"BAD"}`, `{"command":"echo BAD"}`},
}

// NUL ends a path for the system, so that a call with it would mean another file. Bytes that are not
// UTF-8 would be replaced in JSON.
func TestBadPathsAreInvalidArguments(t *testing.T) {
	p := openPrograms(t)
	p.write("k.txt", "k")
	bearer := "Bearer " + ownerToken
	var listed struct{ Tools []struct{ Name string } }
	_, answer, _ := p.request(http.MethodGet, "/api/v1/tools", "", "Authorization", bearer)
	if err := json.Unmarshal([]byte(answer), &listed); err != nil {
		t.Fatal(err)
	}
	for _, tool := range listed.Tools {
		_, _, isOfMachine := strings.Cut(tool.Name, "__")
		if badPaths[tool.Name] == nil && (strings.HasPrefix(tool.Name, "fs_") || isOfMachine && strings.HasSuffix(tool.Name, "File")) {
			t.Errorf("%s has no arguments here", tool.Name)
		}
	}
	for tool, list := range badPaths {
		for _, args := range list {
			args = strings.NewReplacer("T,", `{"node_name":"box"},`, "DIR", p.workspace).Replace(args)
			for name, bad := range map[string]string{"NUL": `\u0000`, "not UTF-8": "\xff"} {
				text := bad
				if strings.HasPrefix(tool, "fs_") || tool == "file" {
					text = p.workspace + "/a" + bad + "b"
				}
				body := strings.ReplaceAll(args, "BAD", text)
				status, answer, _ := p.request(http.MethodPost, "/api/v1/tools/"+tool, body, "Authorization", bearer)
				if status != http.StatusBadRequest || !strings.Contains(answer, `"invalid_args"`) || !strings.Contains(answer, `"retryable":false`) {
					t.Errorf("%s of %s(%q): got %d %s, want invalid_args", name, tool, body, status, answer)
				}
				message := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`, tool, body)
				_, answer, _ = p.send(ownerToken, message, map[string]string{"Mcp-Method": "tools/call", "Mcp-Name": tool, "MCP-Protocol-Version": "2026-07-28"})
				if !strings.Contains(answer, "invalid_args") && !strings.Contains(answer, `"code":-32700`) && !strings.Contains(answer, `"code":-32600`) {
					t.Errorf("%s of %s(%q) over MCP: got %s, want invalid_args", name, tool, body, answer)
				}
			}
		}
	}
}

// A file outside the workspace can be watched once its folder is granted, or by an app whose call was
// allowed.
func TestFileOutsideTheWorkspaceIsWatched(t *testing.T) {
	p := openPrograms(t)
	file := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(file, []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	updated := make(chan string, 10)
	s := p.connect(p.token("A", protocol.ScopeFilesRead), &sdk.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI },
	}, true)
	subscribed := make(chan error, 1)
	go func() {
		subscribed <- s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "fairlead://box/file" + file})
	}()
	p.allow()
	if err := <-subscribed; err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("22"), 0o600); err != nil {
		t.Fatal(err)
	}
	select {
	case <-updated:
	case <-time.After(time.Minute):
		t.Error("no notification")
	}
	if n := len(p.pending()); n != 0 {
		t.Errorf("got %d more questions, want 0", n)
	}
}

// A call is previewed first, and a preview that finds a problem is its end.
func TestNamesThatLookTheSameAreNamed(t *testing.T) {
	p := openPrograms(t)
	p.write("cafe\u0301/it’s.txt", "x")
	const asked = "café/it's.txt"
	at := mustQuote(filepath.Join(p.workspace, asked))
	for tool, args := range map[string]string{
		"box__Read": `{"path":"` + asked + `"}`, "box__Grep": `{"pattern":"x","path":"` + asked + `"}`, "gsv__Transfer": `{"source":"box:` + asked + `","destination":"gsv:x"}`,
		"fs_read": `{"target":{"node_id":"box"},"path":` + at + `}`, "fs_stat": `{"target":{"node_id":"box"},"path":` + at + `}`,
		"fs_grep": `{"target":{"node_id":"box"},"path":` + at + `,"pattern":"x"}`, "fs_list": `{"target":{"node_id":"box"},"path":` + at + `}`,
	} {
		status, answer, _ := p.request(http.MethodPost, "/api/v1/tools/"+tool, args, "Authorization", "Bearer "+ownerToken)
		if status != http.StatusNotFound || !strings.Contains(answer, `cafe\\u0301/it\\u2019s.txt`) {
			t.Errorf("%s: got %d %s, want it to name the file", tool, status, answer)
		}
	}
}
