package catalog

import (
	"context"
	"encoding/json"
	"testing"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// TestArgumentsReachTheMachine has, for each tool, all arguments and those of the machine's tool.
func TestArgumentsReachTheMachine(t *testing.T) {
	const (
		list   = `"recursive":true,"limit":7`
		remove = `"recursive":true,"force":true`
		mkdir  = `"mode":"0700","recursive":true`
		read   = `"offset":3,"encoding":"base64","max_bytes":5`
		write  = `"mode":"0600","encoding":"utf8","chunk":"x","done":true,"expected_sha256":"s"`
		fetch  = `"url":"http://x","headers":{"A":"b"},"fetch_max_bytes":9,"expected_sha256":"s","mode":"0600"`
		edit   = `"old_string":"a","new_string":"b","replace_all":true,"expected_sha256":"s"`
		edits  = `"edits":[{"old_string":"a","new_string":"b","replace_all":true}]`
		glob   = `"pattern":"*","hidden":false,"ignored":false`
		grep   = `"pattern":"x","include":"*.md","ignore_case":true,"before":1,"after":2,"max_matches":3,"hidden":false,"ignored":false`
	)
	for _, c := range []struct{ tool, args, machine, want string }{
		{"fs_list", list, "fs_list", list},
		{"file", `"op":"list",` + list, "fs_list", list},
		{"fs_delete", remove, "fs_delete", remove},
		{"file", `"op":"delete",` + remove, "fs_delete", remove},
		{"fs_mkdir", mkdir, "fs_mkdir", mkdir},
		{"file", `"op":"mkdir",` + mkdir, "fs_mkdir", mkdir},
		{"fs_read", read, "fs_read", read},
		{"file", `"op":"read",` + read, "fs_read", read},
		{"fs_write", write, "fs_write", write},
		{"file", `"op":"write",` + write, "fs_write", write},
		{"file", `"op":"fetch_url",` + fetch, "fs_fetch", fetch},
		{"fs_edit", edit, "Edit", `"oldString":"a","newString":"b","replaceAll":true,"expectedSha256":"s"`},
		{"file", `"op":"edit",` + edit, "Edit", `"oldString":"a","newString":"b","replaceAll":true,"expectedSha256":"s"`},
		{"file", `"op":"multi_edit",` + edits, "Edit", `"oldString":"","newString":"","edits":[{"oldString":"a","newString":"b","replaceAll":true}]`},
		{"fs_glob", glob, "fs_glob", glob},
		{"fs_grep", grep, "fs_grep", grep},
	} {
		t.Run(c.tool+" "+c.args, func(t *testing.T) {
			b := newBench(t)
			b.answer = func(context.Context, tool.Call) (tool.Result, error) { return succeed(`{"done":true}`), nil }
			b.must(me, c.tool, `{"target":{"node_id":"nas"},"path":"/x",`+c.args+`}`)
			got, want := make(map[string]any), make(map[string]any)
			if err := json.Unmarshal(b.last().Args, &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(`{"path":"/x",`+c.want+`}`), &want); err != nil {
				t.Fatal(err)
			}
			if string(protocol.Encode(got)) != string(protocol.Encode(want)) || string(b.last().Tool) != "nas__"+c.machine {
				t.Errorf("called %s %s, want %s %s", b.last().Tool, protocol.Encode(got), c.machine, protocol.Encode(want))
			}
		})
	}
}

func TestBurstIsAllowedAfterAPause(t *testing.T) {
	b := newBench(t)
	for _, args := range []string{statArgs, `{"session":{"node_name":"nas","command":"ls"}}`} {
		b.config.API.Limits.Machine = config.RateLimit{PerMinute: 1, Burst: 3}
		name := "fs_stat"
		if args != statArgs {
			name, b.config.API.Limits.Machine.PerMinute = "command", 2 // a changed setting begins anew
		}
		b.answer = func(context.Context, tool.Call) (tool.Result, error) { return succeed(`{"state":"running"}`), nil }
		for range 3 {
			b.must(me, name, args)
		}
		b.checkFault(me, name, args, protocol.FaultRateLimited, "machine")
	}
}
