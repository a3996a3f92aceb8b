package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/auth"
	"fairlead/gateway/catalog"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/job"
)

func TestResourcesAndPrompts(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		s := b.connect(t, "all", nil, legacy)
		b.answer(func(_ context.Context, _ auth.Principal, r catalog.Request) (job.Result, error) {
			switch r.Tool {
			case "network_directory":
				return job.Result{Data: json.RawMessage(`{"networks":[{"nodes":[{"id":"laptop","name":"Laptop"},{"id":"nas","name":"nas"}]}]}`)}, nil
			case "fs_list":
				return job.Result{Data: json.RawMessage(`{"entries":[{"name":"notes","is_dir":true},{"name":"node.txt"},{"name":"x"}]}`)}, nil
			}
			content := "aGVsbG8=" // hello
			if strings.Contains(string(r.Args), "binary") {
				content = "AP8="
			}
			return job.Result{Data: json.RawMessage(`{"chunk_b64":"` + content + `","done":` + fmt.Sprint(!strings.Contains(string(r.Args), "large")) + `}`)}, nil
		})
		list, err := s.ListResources(t.Context(), nil)
		if err != nil || len(list.Resources) != 4 {
			t.Fatalf("got %+v, error %v, want 4 resources", list, err)
		}
		read := func(uri string) (*sdk.ResourceContents, error) {
			r, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
			if err != nil {
				return nil, err
			}
			return r.Contents[0], nil
		}
		call, err := protocol.Marshal(protocol.CallInfo{CallID: "a"})
		if err != nil {
			t.Fatal(err)
		}
		moved, err := protocol.Marshal(protocol.TransferListResult{Transfers: []protocol.Transfer{{ID: "open"}, {ID: "ended"}}, Count: 2})
		if err != nil {
			t.Fatal(err)
		}
		for uri, want := range map[string]string{
			"fairlead://journal": `{"calls":[` + string(call) + `]}`, "fairlead://transfers": string(moved),
			"fairlead://nas/file/etc/hosts": "hello", "fairlead://machines": `{"networks":[{"nodes":[{"id":"laptop","name":"Laptop"},{"id":"nas","name":"nas"}]}]}`,
			"fairlead://machines/nas": `{"id":"nas","name":"nas"}`, "fairlead://My%20computer/file/etc/hosts": "hello",
		} {
			if got, err := read(uri); err != nil || got.Text != want {
				t.Errorf("%s: got %+v, error %v, want %q", uri, got, err, want)
			}
		}
		if got, err := read("fairlead://nas/file/binary"); err != nil || string(got.Blob) != "\x00\xff" {
			t.Errorf("a binary file: got %+v, error %v, want its bytes", got, err)
		}
		for _, uri := range []string{"fairlead://nas/file/large", "fairlead://nas/other", "https://x/y"} {
			if got, err := read(uri); err == nil {
				t.Errorf("%s: got %+v, want an error", uri, got)
			}
		}
		reader := b.connect(t, "reader", nil, legacy)
		if _, err := reader.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "fairlead://journal"}); err == nil {
			t.Error("a token without the scope reads the journal")
		}
		prompt, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "deploy"})
		if err != nil || prompt.Messages[0].Content.(*sdk.TextContent).Text != "# deploy" {
			t.Errorf("got %+v, error %v, want the prompt deploy", prompt, err)
		}
		complete := func(name, value, machine string) []string {
			p := &sdk.CompleteParams{Ref: &sdk.CompleteReference{Type: "ref/resource", URI: fileURI}, Argument: sdk.CompleteParamsArgument{Name: name, Value: value}}
			if machine != "" {
				p.Context = &sdk.CompleteContext{Arguments: map[string]string{"machine": machine}}
			}
			r, err := s.Complete(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			return r.Completion.Values
		}
		if got := complete("machine", "la", ""); !slices.Equal(got, []string{"Laptop"}) {
			t.Errorf("got machines %v, want Laptop", got)
		}
		if got := complete("path", "/home/no", "nas"); !slices.Equal(got, []string{"/home/notes/", "/home/node.txt"}) {
			t.Errorf("got paths %v, want notes and node.txt", got)
		}
		if got := complete("path", "/home/no", ""); len(got) != 0 {
			t.Errorf("got paths without a machine %v, want none", got)
		}
	})
}

func TestPromptsNeedTheScopeToReadFilesOfAllMachines(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		noFiles := maps.Clone(scopes)
		noFiles["reader"] = []protocol.Scope{protocol.ScopeNetworkRead}
		for _, c := range []struct {
			token  string
			scopes map[string][]protocol.Scope
			want   int
		}{{"all", scopes, 1}, {"reader", scopes, 1}, {"limited", scopes, 0}, {"reader", noFiles, 0}} {
			b.scopes.Store(&c.scopes)
			s := b.connect(t, c.token, nil, legacy)
			list, err := s.ListPrompts(t.Context(), nil)
			if err != nil || len(list.Prompts) != c.want {
				t.Errorf("%s with %v: got %+v, %v, want %d prompts", c.token, c.scopes[c.token], list, err, c.want)
			}
			if _, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "deploy"}); (err == nil) != (c.want > 0) {
				t.Errorf("%s with %v: got error %v, want one unless there are prompts", c.token, c.scopes[c.token], err)
			}
		}
	})
}

func TestFileAddresses(t *testing.T) {
	for uri, want := range map[string][2]string{
		"fairlead://nas/file/etc/hosts": {"nas", "/etc/hosts"}, "fairlead://pc/file/C:/Users/a%20b": {"pc", "C:/Users/a b"}, "fairlead://nas/files/x": {}, "fairlead://My%20computer/file/a": {"My computer", "/a"}, "fairlead://a%2Fb/file/x": {}, "fairlead:///file/x": {}, "file:///etc": {}, "fairlead://nas/file": {}, ":": {},
	} {
		machine, path, ok := parseFileURI(uri)
		if ok != (want[0] != "") || ok && (machine != want[0] || path != want[1]) {
			t.Errorf("%s: got %q, %q, %v, want %q", uri, machine, path, ok, want)
		}
	}
}

func TestChangedSkillsChangeThePrompts(t *testing.T) {
	b := serve(t)
	changed := make(chan struct{}, 10)
	s := b.connect(t, "all", &sdk.ClientOptions{PromptListChangedHandler: func(context.Context, *sdk.PromptListChangedRequest) { changed <- struct{}{} }}, true)
	b.skills.added.Store(true)
	b.bus.Publish(protocol.Change{Kind: protocol.ChangeSkills})
	select {
	case <-changed:
	case <-time.After(3 * time.Minute):
		t.Fatal("got no notification in time, want one")
	}
	if list, err := s.ListPrompts(t.Context(), nil); err != nil || len(list.Prompts) != 2 {
		t.Errorf("got %+v, error %v, want 2 prompts", list, err)
	}
}
