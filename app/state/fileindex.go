package state

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"unicode"

	"fairlead/gateway/protocol"
)

// fileList are the known files, newest first, of a machine's workspace or of a granted folder.
type fileList struct {
	place     protocol.NodeID
	top       string // the folder; empty for the workspace
	paths     []string
	note      string
	truncated bool // the list is incomplete: the machine's tool limits its results
}

// fileIndex lists the files of machines. It is safe for concurrent use.
type fileIndex struct {
	app *App

	mu     sync.Mutex // guards latest
	latest fileList
}

// reset drops the list, so that the next search requests it again.
func (x *fileIndex) reset() {
	x.mu.Lock()
	x.latest = fileList{}
	x.mu.Unlock()
}

// searchRoot returns the root folder for searching a view's files: the workspace, or the view's
// folder if it is outside.
func searchRoot(v FilesView) string {
	if isAbsolute(v.Dir) {
		return v.Dir
	}
	return ""
}

// find returns the files that match a filter. If the machine's tool would return too many files,
// the tool gets a part of the filter.
func (x *fileIndex) find(ctx context.Context, v FilesView) (fileList, error) {
	x.mu.Lock()
	files := x.latest
	x.mu.Unlock()
	top := searchRoot(v)
	if files.place != v.Place || files.top != top {
		var err error
		if files, err = x.glob(ctx, v.Place, top, "**"); err != nil {
			return fileList{}, err
		}
		x.mu.Lock()
		x.latest = files
		x.mu.Unlock()
	}
	if part := globOf(v.Filter); files.truncated && part != "" {
		return x.glob(ctx, v.Place, top, part)
	}
	return files, nil
}

// globOf returns a pattern for paths that contain the longest word of a filter, ignoring case;
// empty for none.
func globOf(filter string) string {
	longest := ""
	for _, part := range strings.FieldsFunc(filter, func(r rune) bool { return r == '/' || unicode.IsSpace(r) }) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	var b strings.Builder
	for _, r := range longest {
		switch low, up := unicode.ToLower(r), unicode.ToUpper(r); {
		case low != up:
			fmt.Fprintf(&b, "[%c%c]", low, up)
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r > unicode.MaxASCII:
			b.WriteRune(r)
		default:
			b.WriteRune('?') // special characters of patterns
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("{**/*%s*,**/*%[1]s*/**}", b.String())
}

// glob lists a machine's files with its Glob tool, as a call by the person.
func (x *fileIndex) glob(ctx context.Context, id protocol.NodeID, top, pattern string) (fileList, error) {
	var out struct {
		BasePath  string
		Matches   []string
		Truncated bool
		Total     int
	}
	args := map[string]any{"pattern": pattern, "ignored": false}
	if top != "" {
		args["path"] = top
	}
	if err := invokeTool(ctx, x.app, id, "Glob", args, &out); err != nil {
		return fileList{}, err
	}
	m := fileList{place: id, top: top, truncated: out.Truncated}
	if top = strings.TrimSuffix(top, "/"); top != "" {
		top += "/"
	}
	base := strings.TrimSuffix(strings.ReplaceAll(out.BasePath, `\`, "/"), "/") + "/"
	for _, p := range out.Matches {
		m.paths = append(m.paths, top+strings.TrimPrefix(strings.ReplaceAll(p, `\`, "/"), base))
	}
	if out.Truncated {
		m.note = fmt.Sprintf("Showing the newest %d of %d files.", len(m.paths), max(out.Total, len(m.paths)))
	}
	return m, nil
}

// invokeTool calls a tool of a machine and decodes its result.
func invokeTool(ctx context.Context, a *App, id protocol.NodeID, name string, args, out any) error {
	raw, err := protocol.Marshal(args)
	if err != nil {
		return err
	}
	r, err := Call(ctx, a, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: protocol.ToolName(string(id) + "__" + name), Args: raw})
	if err != nil {
		return err
	}
	return json.Unmarshal(r.Result, out)
}

// matches reports whether a path contains every word of a filter, ignoring case.
func matches(p, filter string) bool {
	p = strings.ToLower(p)
	for _, w := range strings.Fields(strings.ToLower(filter)) {
		if !strings.Contains(p, w) {
			return false
		}
	}
	return true
}

// entriesOf returns a folder's entries, taken from a machine's list of files (newest first).
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
