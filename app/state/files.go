package state

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// FileEntry is a file or folder. Path is relative to the place, with slashes, or absolute where it lies in another folder than the workspace.
type FileEntry struct {
	Path    string
	Dir     bool
	Info    protocol.FileInfo // empty where the place does not tell it
	Missing bool              // it is not there, and the agent would read it
}

// Name is the last part of its path.
func (e FileEntry) Name() string { return path.Base(e.Path) }

// OpenFile is a file that is looked at.
type OpenFile struct {
	Path     string
	Text     string
	Image    []byte // instead of Text
	Problem  string // why it cannot be shown
	Cut      bool   // Text is only its beginning
	Editable bool
	Missing  bool // it is not there yet: Text is what a new agent has
}

// FilesView is what the page of files shows.
type FilesView struct {
	Place   protocol.NodeID // the machine; empty is the agent's own files
	Dir     string          // relative to the place; empty is its top
	Loading bool
	Problem string
	Note    string      // what else there is to know of the list
	Shallow string      // why changes in folders below are not followed, in half a sentence; empty when they are, or nothing is
	Entries []FileEntry // of Dir, or of everything below it when a filter is set: in the order of Sort, folders first
	Filter  string
	Sort    FileSort
	File    *OpenFile
	// Serves says that the place tells sizes and times and lets files be moved and deleted; Fixed that nothing may be changed in this folder.
	Serves, Fixed bool
	// Changed is what the agent changed on the machine, the newest first.
	Changed []protocol.FileChange
	At      string // the folder's own absolute path, where it is known
}

// Files is the view-model of the page of files. Its methods return at once, are safe for use by many goroutines, and what they lead to arrives as
// a changed value.
type Files struct {
	Value *Value[FilesView]
	a     *App

	all  *Value[machineFiles]
	live follow
}

// machineFiles is what is known of a machine's workspace: its files, newest first.
type machineFiles struct {
	place protocol.NodeID
	paths []string
	note  string
}

// NewFiles makes it, with nothing loaded. Leave ends it.
func NewFiles(a *App) *Files {
	f := &Files{Value: NewValue(FilesView{Loading: true}), a: a, all: NewValue(machineFiles{})}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.files = append(a.files, f)
	return f
}

// Open shows the top of a place.
func (f *Files) Open(place protocol.NodeID) {
	f.Value.Update(func(v FilesView) FilesView {
		return FilesView{Place: place, Loading: true, Sort: v.Sort, Serves: f.serves(place)}
	})
	f.all.Update(func(machineFiles) machineFiles { return machineFiles{} })
	f.Reload()
}

// Enter shows a folder.
func (f *Files) Enter(dir string) {
	f.Value.Update(func(v FilesView) FilesView {
		v.Dir, v.File, v.Problem, v.Filter = within(f.a.Value.Get(), v.Place, dir), nil, "", ""
		v.Loading, v.Shallow = v.Place == "" || v.Serves, ""
		return v
	})
	f.show()
}

// Up shows the folder above, or leaves the file that is shown.
func (f *Files) Up() {
	v := f.Value.Get()
	if v.File != nil {
		f.Value.Update(func(v FilesView) FilesView { v.File = nil; return v })
		return
	}
	f.Enter(above(v.Dir))
}

// Narrow shows only what has a text in its path, in all folders below.
func (f *Files) Narrow(filter string) {
	f.Value.Update(func(v FilesView) FilesView { v.Filter = strings.TrimSpace(filter); return v })
	f.show()
}

// Sort chooses the order.
func (f *Files) Sort(by FileSort) {
	f.Value.Update(func(v FilesView) FilesView {
		v.Sort, v.Entries = by, slices.Clone(v.Entries)
		by.order(v.Entries)
		return v
	})
	if !f.Value.Get().Serves {
		f.show()
	}
}

// Reload asks the place again. What is shown stays until it has answered.
func (f *Files) Reload() {
	f.all.Update(func(machineFiles) machineFiles { return machineFiles{} })
	f.Value.Update(func(v FilesView) FilesView { v.Serves = f.serves(v.Place); return v })
	f.show()
}

// show loads what the view needs and does not have.
func (f *Files) show() {
	f.a.start(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, rpcLimit)
		defer cancel()
		want := f.Value.Get()
		entries, note, err := f.list(ctx, want)
		f.Value.Update(func(v FilesView) FilesView {
			if v.Place != want.Place || v.Dir != want.Dir || v.Filter != want.Filter {
				return v // another was asked for meanwhile
			}
			v.Loading, v.Problem = false, ""
			if err != nil {
				v.Problem = sentence(err)
				return v
			}
			v.Entries, v.Note = entries, note
			v.Sort.order(v.Entries)
			return v
		})
	})
}

func (f *Files) list(ctx context.Context, v FilesView) ([]FileEntry, string, error) {
	if v.Place == "" {
		r, err := Call(ctx, f.a, protocol.WorkspaceList, protocol.WorkspaceListParams{Path: v.Dir})
		if err != nil {
			return nil, "", err
		}
		var list []FileEntry
		for _, d := range r.Directories {
			list = append(list, FileEntry{Path: strings.Trim(d, "/"), Dir: true})
		}
		for _, p := range r.Files {
			list = append(list, FileEntry{Path: strings.Trim(p, "/")})
		}
		if v.Dir == "" {
			list = append(list, missing(list)...)
		}
		list = drop(list, func(e FileEntry) bool { return !matches(e.Path, v.Filter) })
		return list, "", nil
	}
	if v.Serves && v.Filter == "" {
		return f.folder(ctx, v)
	}
	all := f.all.Get()
	if all.place != v.Place {
		var err error
		if all, err = f.globbed(ctx, v.Place); err != nil {
			return nil, "", err
		}
		f.all.Update(func(machineFiles) machineFiles { return all })
	}
	return entriesOf(all.paths, v), all.note, nil
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

// previewLines is how much of a machine's file is shown.
const previewLines = 5000

// Look opens a file to be looked at.
func (f *Files) Look(p string) {
	f.a.start(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, rpcLimit)
		defer cancel()
		place := f.Value.Get().Place
		file, err := f.read(ctx, place, p)
		if err != nil {
			file = OpenFile{Path: p, Problem: sentence(err)}
		}
		f.Value.Update(func(v FilesView) FilesView {
			if v.Place == place {
				v.File = &file
			}
			return v
		})
	})
}

func (f *Files) read(ctx context.Context, place protocol.NodeID, p string) (OpenFile, error) {
	file := OpenFile{Path: p}
	if place == "" {
		return f.readOwn(ctx, p)
	}
	var out struct {
		Content   json.RawMessage
		Truncated bool
	}
	if err := f.invoke(ctx, place, "Read", map[string]any{"path": p, "limit": previewLines}, &out); err != nil {
		return file, err
	}
	var numbered string
	if json.Unmarshal(out.Content, &numbered) == nil {
		file.Text, file.Cut = unnumbered(numbered), out.Truncated || strings.Count(numbered, "\n") >= previewLines-1
		return file, nil
	}
	var blocks protocol.Content
	if err := json.Unmarshal(out.Content, &blocks); err != nil {
		return file, err
	}
	for _, b := range blocks {
		if b.Type == "image" && b.Data != "" {
			data, err := base64.StdEncoding.DecodeString(b.Data)
			file.Image = data
			return file, err
		}
	}
	file.Text = blocks.Text()
	return file, nil
}

// unnumbered takes the line numbers away that the tool Read puts before each line, with a tab.
func unnumbered(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if n, rest, ok := strings.Cut(l, "\t"); ok && strings.Trim(n, " 0123456789") == "" {
			lines[i] = rest
		}
	}
	return strings.Join(lines, "\n")
}

// Save writes one of the agent's files. It blocks.
func (f *Files) Save(ctx context.Context, p, text string) error {
	if strings.TrimSpace(p) == "" {
		return protocol.ErrBadRequest.With("the file needs a name")
	}
	if _, err := Call(ctx, f.a, protocol.WorkspaceWrite, protocol.WorkspaceWriteParams{Path: p, Content: &text}); err != nil {
		return err
	}
	f.Reload()
	return nil
}

// Delete removes one of the agent's files and returns what brings it back. It blocks.
func (f *Files) Delete(ctx context.Context, p string) (undo func(), err error) {
	r, err := Call(ctx, f.a, protocol.WorkspaceRead, protocol.WorkspaceReadParams{Path: p, Encoding: protocol.EncodingBase64})
	if err != nil {
		return nil, err
	}
	raw, err := protocol.Marshal(r)
	if err != nil {
		return nil, err
	}
	var was protocol.WorkspaceReadResult
	if err := json.Unmarshal(raw, &was); err != nil {
		return nil, err
	}
	if _, err := Call(ctx, f.a, protocol.WorkspaceDelete, protocol.WorkspaceDeleteParams{Path: p}); err != nil {
		return nil, err
	}
	f.Value.Update(func(v FilesView) FilesView { v.File = nil; return v })
	f.Reload()
	return func() {
		f.a.start(func(ctx context.Context) {
			if _, err := Call(ctx, f.a, protocol.WorkspaceWrite, protocol.WorkspaceWriteParams{Path: p, Content: &was.Content, Encoding: was.Encoding}); err != nil {
				f.a.fail(err)
			}
			f.Reload()
		})
	}, nil
}
