package catalog

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

func TestEditsAreThoseOfTheAgentsTool(t *testing.T) {
	b := newBench(t)
	b.answer = func(_ context.Context, c tool.Call) (tool.Result, error) {
		return succeed(`{"path":"/x","replacements":2,"bytes":9,"sha256":"new","oldBytes":7,"oldSha256":"old"}`), nil
	}
	on := `{"target":{"node_id":"nas"},"path":"/x",`
	got := b.must(me, "fs_edit", on+`"old_string":"a","new_string":"b","replace_all":true,"expected_sha256":"s"}`)
	if !strings.HasPrefix(got, `{"path":"/x","edits_applied":1,"total":9,"sha256":"new","old_size":7,"old_sha256":"old"`) {
		t.Errorf("got %s, want a text that begins with `{\"path\":\"/x\",\"edits_applied\":1,\"total\":9,\"sha256\":\"new\",\"old_size\":7,\"old_sha256\":\"old\"`", got)
	}
	if c := b.last(); c.Tool != "nas__Edit" || string(c.Args) != `{"path":"/x","oldString":"a","newString":"b","replaceAll":true,"expectedSha256":"s"}` {
		t.Errorf("called: got %s %s; want Tool \"nas__Edit\" and Args `{\"path\":\"/x\",\"oldString\":\"a\",\"newString\":\"b\",\"replaceAll\":true,\"expectedSha256\":\"s\"}`", c.Tool, c.Args)
	}
	got = b.must(me, "file", on+`"op":"multi_edit","edits":[{"old_string":"a","new_string":"b","expected_sha256":"s"},{"old_string":"c","new_string":"","expected_sha256":"S"}]}`)
	if !strings.Contains(got, `"edits_applied":2`) {
		t.Errorf("got %s, want `\"edits_applied\":2` in it", got)
	}
	if c := b.last(); string(c.Args) != `{"path":"/x","oldString":"","newString":"","edits":[{"oldString":"a","newString":"b"},{"oldString":"c","newString":""}],"expectedSha256":"S"}` {
		t.Errorf("called: got %s, want Args `{\"path\":\"/x\",\"oldString\":\"\",\"newString\":\"\",\"edits\":[{\"oldString\":\"a\",\"newString\":\"b\"},{\"oldString\":\"c\",\"newString\":\"\"}],\"expectedSha256\":\"S\"}`", c.Args)
	}
	for args, text := range map[string]string{
		`"old_string":"a"}`: "required", `"edits":[]}`: "required", `"old_string":"a","new_string":"b","edits":[{"old_string":"a","new_string":"b"}]}`: "not both",
		`"edits":[{"old_string":"a","new_string":"b","expected_sha256":"s"},{"old_string":"a","new_string":"b","expected_sha256":"t"}]}`: "the same for all",
	} {
		b.checkFault(me, "fs_edit", on+args, protocol.FaultInvalidArgs, text)
	}
	b.checkFault(me, "fs_edit", `{"target":{"node_id":"nas"},"path":"x","old_string":"a","new_string":"b"}`, protocol.FaultInvalidArgs, "absolute")
	b.checkFault(me, "file", on+`"op":"edit","edits":[{"old_string":"a","new_string":"b"}]}`, protocol.FaultInvalidArgs, "multi_edit")
	b.checkFault(me, "file", on+`"op":"multi_edit","old_string":"a","new_string":"b"}`, protocol.FaultInvalidArgs, "multi_edit takes edits")
	b.answer = func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Info: protocol.CallInfo{State: protocol.CallFailed, Error: "oldString found 2 times in '/x'. Use replaceAll: true or more."}}, nil
	}
	b.checkFault(me, "fs_edit", on+`"old_string":"a","new_string":"b"}`, protocol.FaultInvalidArgs, "old_string found 2 times in '/x'. Use replace_all or more.")
	b.answer = func(context.Context, tool.Call) (tool.Result, error) {
		const text = "File too large for Edit. Replace it with Write."
		return tool.Result{Info: protocol.CallInfo{State: protocol.CallFailed, Error: text, Fault: protocol.NewFault(protocol.FaultTooLarge, text)}}, nil
	}
	b.checkFault(me, "fs_edit", on+`"old_string":"a","new_string":"b"}`, protocol.FaultTooLarge, "File too large for fs_edit. Replace it with fs_write.")
}

func TestAbsolutePathsOfEverySystemAreKnown(t *testing.T) {
	for path, want := range map[string]bool{"/x": true, `C:\x`: true, "C:/x": true, "C:x": false, `\\server\share`: true, "x": false, "": false} {
		if isAbsolute(path) != want {
			t.Errorf("%q: got %v; want %v", path, !want, want)
		}
	}
}

func TestBatchGoesOnAfterAFailure(t *testing.T) {
	b := newBench(t)
	b.answer = func(_ context.Context, c tool.Call) (tool.Result, error) {
		if strings.Contains(string(c.Args), "bad") {
			return tool.Result{Info: protocol.CallInfo{State: protocol.CallFailed, Error: "x", Fault: protocol.NewFault(protocol.FaultAlreadyExists, "x")}}, nil
		}
		return succeed(`{"path":"/x","file_id":"f","done":true,"total":1}`), nil
	}
	got := b.must(me, "file", `{"target":{"node_id":"nas"},"op":"batch","ops":[{"op":"mkdir","path":"/bad"},{"op":"write","path":"/x","chunk_b64":"eA=="},{"op":"read","path":"/x"},{"op":"batch"},
		{"op":"stat","path":"/x","target":{"node_id":"nas"}},{"op":"write","path":"/x","file_id":"f"},{"path":"/x"},{"op":"fetch_url","path":"/x","url":"http://x"},
		{"op":"mkdir","path":"/x","recusive":true},{"op":"copy","path":"/x"}]}`)
	var out fileOut
	if err := json.Unmarshal([]byte(got), &out); err != nil || len(out.BatchResults) != 10 {
		t.Fatalf("got %s, %v; want no error and BatchResults of length 10", got, err)
	}
	for i, want := range []protocol.FaultCode{protocol.FaultAlreadyExists, "", protocol.FaultInvalidArgs, protocol.FaultInvalidArgs, protocol.FaultInvalidArgs, protocol.FaultInvalidArgs, protocol.FaultInvalidArgs, "", protocol.FaultInvalidArgs, protocol.FaultInvalidArgs} {
		r := out.BatchResults[i]
		if r.OK != (want == "") || want != "" && (r.Error == nil || r.Error.Code != want) || want == "" && r.Data == nil {
			t.Errorf("operation %d: %+v; want OK %v, either an empty want or Error.Code %v and either some want or Data set", i, r, want == "", want)
		}
	}
	for _, c := range b.calls {
		if c.Tool == "nas__fs_write" && !strings.Contains(string(c.Args), "file_id") && string(c.Args) != `{"chunk_b64":"eA==","done":true,"path":"/x"}` {
			t.Errorf("write without done: %s", c.Args)
		}
	}
	many := strings.Repeat(`{"op":"stat","path":"/x"},`, 100)
	b.must(me, "file", `{"target":{"node_id":"nas"},"op":"batch","ops":[`+strings.TrimSuffix(many, ",")+`]}`)
	for _, ops := range []string{`[]`, `[` + many + `{"op":"stat","path":"/x"}]`} {
		b.checkFault(me, "file", `{"target":{"node_id":"nas"},"op":"batch","ops":`+ops+`}`, protocol.FaultInvalidArgs, "1 to 100")
	}
	b.checkFault(me, "file", `{"target":{"node_id":"none"},"op":"batch","ops":[{"op":"stat"}]}`, protocol.FaultTargetNotFound, "")
	b.checkFault(me, "file", `{"target":{"node_id":"nas"}}`, protocol.FaultInvalidArgs, "op is required")
}
