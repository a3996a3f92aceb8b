package state

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"fairlead/gateway/protocol"
)

// machineFiles is what is known of a machine's workspace: its files, newest first.
type machineFiles struct {
	place protocol.NodeID
	paths []string
	note  string
}

// globbed asks a machine for its files by its own tool, as the person's own act.
func (f *Files) globbed(ctx context.Context, id protocol.NodeID) (machineFiles, error) {
	var out struct {
		BasePath  string
		Matches   []string
		Truncated bool
		Total     int
	}
	if err := f.invoke(ctx, id, "Glob", map[string]any{"pattern": "**", "ignored": false}, &out); err != nil {
		return machineFiles{}, err
	}
	m := machineFiles{place: id}
	base := strings.TrimSuffix(strings.ReplaceAll(out.BasePath, `\`, "/"), "/") + "/"
	for _, p := range out.Matches {
		m.paths = append(m.paths, strings.TrimPrefix(strings.ReplaceAll(p, `\`, "/"), base))
	}
	if out.Truncated {
		m.note = fmt.Sprintf("The newest %d of %d files.", len(m.paths), max(out.Total, len(m.paths)))
	}
	return m, nil
}

// invoke runs a tool of a machine and decodes its result.
func (f *Files) invoke(ctx context.Context, id protocol.NodeID, name string, args, out any) error {
	raw, err := protocol.Marshal(args)
	if err != nil {
		return err
	}
	r, err := Call(ctx, f.a, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: protocol.ToolName(string(id) + "__" + name), Args: raw})
	if err != nil {
		return err
	}
	return json.Unmarshal(r.Result, out)
}

// matches reports whether a path has every word of a filter, in any case.
func matches(p, filter string) bool {
	p = strings.ToLower(p)
	for _, w := range strings.Fields(strings.ToLower(filter)) {
		if !strings.Contains(p, w) {
			return false
		}
	}
	return true
}

// entriesOf picks what a folder shows from the files of a machine, newest first.
func entriesOf(paths []string, v FilesView) []FileEntry {
	below := ""
	if v.Dir != "" {
		below = v.Dir + "/"
	}
	var list []FileEntry
	dirs := map[string]bool{}
	for _, p := range paths {
		rest, ok := strings.CutPrefix(p, below)
		if !ok || rest == "" {
			continue
		}
		if v.Filter != "" {
			if matches(rest, v.Filter) {
				list = append(list, FileEntry{Path: p})
			}
			continue
		}
		if dir, _, deeper := strings.Cut(rest, "/"); deeper {
			if !dirs[dir] {
				dirs[dir] = true
				list = append(list, FileEntry{Path: below + dir, Dir: true})
			}
			continue
		}
		list = append(list, FileEntry{Path: p})
	}
	return list
}
