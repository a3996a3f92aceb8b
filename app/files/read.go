package files

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"regexp"
	"strings"
	"unicode"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/wording"
	"fairlead/gateway/peer/picture"
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

// search returns the files that match the view's filter.
func (f *Model) search(ctx context.Context, v View) (fileList, error) {
	f.mu.Lock()
	files := f.found
	f.mu.Unlock()
	top := ""
	if isAbsolute(v.Dir) { // outside the workspace
		top = v.Dir
	}
	if files.place != v.Place || files.top != top {
		var err error
		if files, err = listFiles(ctx, f.feed, v.Place, top, "**"); err != nil {
			return fileList{}, err
		}
		f.mu.Lock()
		f.found = files
		f.mu.Unlock()
	}
	if part := globOf(v.Filter); files.truncated && part != "" {
		return listFiles(ctx, f.feed, v.Place, top, part)
	}
	return files, nil
}

// globOf returns a pattern for paths that contain the longest word of a filter; "" for none.
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

// listFiles lists a machine's files with its Glob tool, as a call by the person.
func listFiles(ctx context.Context, a feed.Gateway, id protocol.NodeID, top, pattern string) (fileList, error) {
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
	if err := invokeTool(ctx, a, id, "Glob", args, &out); err != nil {
		return fileList{}, err
	}
	m := fileList{place: id, top: top, truncated: out.Truncated}
	if top = strings.TrimSuffix(top, "/"); top != "" {
		top += "/"
	}
	base := strings.TrimSuffix(wording.Slashes(out.BasePath), "/") + "/"
	m.paths = lists.Map(out.Matches, func(p string) string { return top + strings.TrimPrefix(wording.Slashes(p), base) })
	if out.Truncated {
		m.note = fmt.Sprintf("Showing the newest %d of %d files.", len(m.paths), max(out.Total, len(m.paths)))
	}
	return m, nil
}

func invokeTool(ctx context.Context, a feed.Gateway, id protocol.NodeID, name string, args, out any) error {
	raw, err := protocol.Marshal(args)
	if err != nil {
		return err
	}
	r, err := feed.Call(ctx, a, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: protocol.ToolName(string(id) + "__" + name), Args: raw})
	if err != nil {
		return err
	}
	return json.Unmarshal(r.Result, out)
}

// entriesOf returns a folder's entries, taken from a machine's list of files (newest first).
func entriesOf(paths []string, v View) []Entry {
	below := ""
	if v.Dir != "" {
		below = v.Dir + "/"
	}
	var list []Entry
	dirs := map[string]bool{}
	for _, p := range paths {
		rest, ok := strings.CutPrefix(p, below)
		if !ok || rest == "" {
			continue
		}
		if v.Filter != "" {
			if wording.Matches(rest, v.Filter) {
				list = append(list, Entry{Path: p})
			}
			continue
		}
		if dir, _, deeper := strings.Cut(rest, "/"); deeper {
			if !dirs[dir] {
				dirs[dir] = true
				list = append(list, Entry{Path: below + dir, Dir: true})
			}
			continue
		}
		list = append(list, Entry{Path: p})
	}
	return list
}

// File is an opened file.
type File struct {
	Path      string
	Text      string
	Image     image.Image // instead of Text
	Problem   string      // reason why it cannot be shown
	Binary    bool        // neither text nor a picture: there is nothing to show
	Truncated bool        // Text is incomplete
	Editable  bool
	Missing   bool // the file does not exist: Text is the default content for a new agent
}

const (
	previewLines = 5000
	previewSide  = 2560 // maximum side of a picture, in pixels
)

// Look opens a file for reading.
func (f *Model) Look(p string) {
	f.feed.Tasks.StartRequest(func(ctx context.Context) {
		place := f.Value.Get().Place
		file, err := f.read(ctx, place, p)
		switch {
		case err == nil:
		case strings.HasPrefix(err.Error(), binaryFile):
			file = File{Path: p, Binary: true}
		default:
			file = File{Path: p, Problem: feed.Sentence(err)}
		}
		f.Value.Update(func(v *View) {
			if v.Place == place {
				v.File = &file
			}
		})
	})
}

// binaryFile begins the error of the Read tool for files that are neither text nor a picture.
const binaryFile = "Binary file: "

func (f *Model) read(ctx context.Context, place protocol.NodeID, p string) (File, error) {
	file := File{Path: p}
	if place == "" {
		return f.Agent.open(ctx, p)
	}
	var out struct {
		Content   json.RawMessage
		Truncated bool
	}
	if err := invokeTool(ctx, f.feed, place, "Read", map[string]any{"path": p, "limit": previewLines}, &out); err != nil {
		return file, err
	}
	var numbered string
	if json.Unmarshal(out.Content, &numbered) == nil {
		file.Text = lineNumber.ReplaceAllString(numbered, "")
		file.Truncated = out.Truncated || strings.Count(numbered, "\n") >= previewLines-1
		return file, nil
	}
	var blocks protocol.Content
	if err := json.Unmarshal(out.Content, &blocks); err != nil {
		return file, err
	}
	shown, ok := lists.Find(blocks, func(b protocol.Block) bool { return b.Type == protocol.BlockImage && b.Data != "" })
	if !ok {
		file.Text = blocks.Text()
		return file, nil
	}
	data, err := base64.StdEncoding.DecodeString(shown.Data)
	if err != nil {
		return file, err
	}
	pic, err := picture.Open(data)
	switch {
	case errors.Is(err, picture.ErrTooLarge):
		return file, err
	case err != nil:
		return file, errors.New("this picture cannot be shown")
	}
	file.Image = pic.Fit(previewSide)
	return file, nil
}

// lineNumber is what the Read tool puts before each line.
var lineNumber = regexp.MustCompile(`(?m)^[ 0-9]*\t`)
