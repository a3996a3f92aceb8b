package mcp

import (
	"context"
	"encoding/json"
	"path"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/auth"
	"fairlead/gateway/catalog"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/job"
)

// calls makes calls of tools whose results the surface itself needs.
type calls struct{ tools Tools }

// run calls a tool and decodes its result.
func (c calls) run(ctx context.Context, p auth.Principal, name string, args, out any) error {
	r, err := c.result(ctx, p, name, args)
	if err != nil {
		return err
	}
	return json.Unmarshal(r.Data, out)
}

func (c calls) result(ctx context.Context, p auth.Principal, name string, args any) (job.Result, error) {
	raw, err := protocol.Marshal(args)
	if err != nil {
		return job.Result{}, err
	}
	return c.tools.Call(ctx, p, catalog.Request{Tool: name, Args: raw})
}

// completion completes addresses of resources.
type completion struct{ calls calls }

// maxCompletions is the number of values that a completion may have.
const maxCompletions = 100

// complete completes the machine and the path of a file's address.
func (c completion) complete(ctx context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	var values []string
	arg := r.Params.Argument
	if r.Params.Ref.Type == "ref/resource" && r.Params.Ref.URI == fileURI {
		switch arg.Name {
		case "machine":
			values = c.completeMachine(ctx, who(r.Extra), arg.Value)
		case "path":
			if r.Params.Context != nil {
				values = c.completePath(ctx, who(r.Extra), r.Params.Context.Arguments["machine"], arg.Value)
			}
		}
	}
	out := &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}, Total: len(values)}}
	if len(values) > maxCompletions {
		values, out.Completion.HasMore = values[:maxCompletions], true
	}
	out.Completion.Values = append(out.Completion.Values, values...)
	return out, nil
}

func (c completion) completeMachine(ctx context.Context, p auth.Principal, prefix string) (list []string) {
	var dir struct {
		Networks []struct{ Nodes []struct{ Name string } }
	}
	if c.calls.run(ctx, p, "network_directory", map[string]any{"online": true, "brief": true}, &dir) != nil {
		return nil // a completion is a help, not a result
	}
	for _, n := range dir.Networks {
		for _, x := range n.Nodes {
			if strings.HasPrefix(strings.ToLower(x.Name), strings.ToLower(prefix)) {
				list = append(list, x.Name)
			}
		}
	}
	return list
}

func (c completion) completePath(ctx context.Context, p auth.Principal, machine, prefix string) (list []string) {
	dir, start := path.Split(prefix)
	if machine == "" || dir == "" {
		return nil
	}
	var folder struct {
		Entries []struct {
			Name  string
			IsDir bool `json:"is_dir"`
		}
	}
	if c.calls.run(ctx, p, "fs_list", map[string]any{"target": map[string]string{"node_name": machine}, "path": dir}, &folder) != nil {
		return nil
	}
	for _, e := range folder.Entries {
		if strings.HasPrefix(e.Name, start) {
			name := dir + e.Name
			if e.IsDir {
				name += "/"
			}
			list = append(list, name)
		}
	}
	return list
}
