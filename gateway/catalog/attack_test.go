package catalog

import (
	"context"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// The scopes of a call are read from its arguments before it runs. However they are written, what
// runs is what they were read from.
func TestNoWritingOfArgumentsAvoidsTheScopes(t *testing.T) {
	const target = `"target":{"node_id":"nas"},`
	for name, args := range map[string]string{
		"another case":              `{` + target + `"op":"delete","OP":"list","path":"/x/y/z"}`,
		"twice":                     `{` + target + `"op":"list","op":"delete","path":"/x/y/z"}`,
		"unknown":                   `{` + target + `"op":"DELETE","path":"/x/y/z"}`,
		"batch, another case":       `{` + target + `"op":"batch","ops":[{"op":"delete","OP":"list","path":"/x/y/z"}]}`,
		"batch, case and number":    `{` + target + `"op":"batch","ops":[{"op":"delete","OP":"list","path":"/x/y/z","limit":1e0}]}`,
		"batch, twice":              `{` + target + `"op":"batch","ops":[{"op":"list","op":"delete","path":"/x/y/z","limit":1e0}]}`,
		"batch, broken":             `{` + target + `"op":"batch","ops":[{"limit":"x","op":"delete","path":"/x/y/z"}]}`,
		"batch in a batch":          `{` + target + `"op":"batch","ops":[{"op":"batch","ops":[{"op":"delete","path":"/x/y/z"}]}]}`,
		"batch twice":               `{` + target + `"op":"batch","ops":[{"op":"delete","path":"/x/y/z"}],"ops":[{"op":"list","path":"/x"}]}`,
		"download as part of batch": `{` + target + `"op":"batch","ops":[{"op":"fetch_url","OP":"stat","path":"/x/y/z","url":"http://x.example/","limit":1e0}]}`,
	} {
		b := newBench(t)
		var ran []string
		b.answer = func(_ context.Context, c tool.Call) (tool.Result, error) {
			ran = append(ran, string(c.Tool))
			return succeed(`{}`), nil
		}
		b.call(app("a", protocol.ScopeFilesRead), "file", args)
		for _, tool := range ran {
			if tool != "nas__fs_list" && tool != "nas__fs_stat" {
				t.Errorf("%s: a token that may only read ran %s", name, tool)
			}
		}
	}
}

// A nested batch is refused. Unfolding it for its scopes would read each level again with everything
// below it: minutes for one request.
func TestNestedBatchIsNotUnfolded(t *testing.T) {
	b := newBench(t)
	const args = `{"target":{"node_id":"nas"},"op":"batch","ops":[{"op":"batch","ops":[{"op":"stat","path":"/x"}]}]}`
	f := b.fails(app("a", protocol.ScopeNetworkRead), "file", args, protocol.FaultForbidden, "")
	if !strings.Contains(string(f.Details), `"required_scopes":["fs.write"]`) {
		t.Errorf("details %s", f.Details)
	}
	if got := b.must(app("a"), "file", args); !strings.Contains(got, `a batch cannot have the operation`) {
		t.Errorf("got %s", got)
	}
}
