package tools

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"
	"mvdan.cc/sh/v3/syntax"

	"fairlead/gateway/protocol"
	"fairlead/node/workspace"
)

const (
	diffLimit   = 64 << 10
	maxDiffFile = 4 << 20 // each side; comparing more takes too long for a question
	maxPrograms = 32
)

// previewPath says what a tool that reads would look at. Where a link leads counts, not how it is called.
func previewPath(ws *workspace.Root, path string) protocol.CallPreview {
	p, err := ws.Resolve(path)
	preview := protocol.CallPreview{Path: p.Abs, Outside: p.Outside}
	if err != nil {
		preview.Problem = err.Error()
		return preview
	}
	real, _, err := ws.Target(p)
	var outside *workspace.OutsideError
	switch {
	case errors.As(err, &outside):
		preview.Outside, preview.Problem = true, err.Error()
	case err != nil:
		preview.Problem = readError(p, err).Error()
	default:
		preview.Path, preview.Outside = real.Abs, real.Outside
	}
	return preview
}

func (f *files) previewWrite(ctx context.Context, in writeIn) (protocol.CallPreview, error) {
	leave, err := f.enter(ctx)
	if err != nil {
		return protocol.CallPreview{}, err
	}
	defer leave()
	preview, old, p := f.previewFile(in.Path, in.ExpectedSHA256)
	if preview.Problem != "" {
		return preview, nil
	}
	if err := f.checkContent(p, in); err != nil {
		preview.Problem = err.Error()
		return preview, nil
	}
	addDiff(&preview, f.ws.Rel(p), old, []byte(in.Content))
	return preview, nil
}

func (f *files) previewEdit(ctx context.Context, in editIn) (protocol.CallPreview, error) {
	leave, err := f.enter(ctx)
	if err != nil {
		return protocol.CallPreview{}, err
	}
	defer leave()
	preview, old, p := f.previewFile(in.Path, in.ExpectedSHA256)
	switch {
	case preview.Problem != "":
		return preview, nil
	case preview.NewFile:
		preview.Problem = readError(p, fs.ErrNotExist).Error()
		return preview, nil
	case preview.Truncated:
		preview.Problem = "File too large to be edited. Write it anew, or change it with a command."
		return preview, nil
	}
	data, _, err := f.change(ctx, p, old, in)
	if err != nil {
		preview.Problem = err.Error()
		return preview, nil
	}
	addDiff(&preview, f.ws.Rel(p), old, data)
	return preview, nil
}

// previewFile describes a file that would be written. Preview.Truncated says that it is too large to be looked at.
func (f *files) previewFile(path, want string) (preview protocol.CallPreview, old []byte, p workspace.Path) {
	p, err := resolveFile(f.ws, path)
	preview.Path, preview.Outside = p.Abs, p.Outside
	if err != nil {
		preview.Problem = err.Error()
		return preview, nil, p
	}
	real, _, err := f.ws.Target(p)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		preview.Path, preview.Outside = real.Abs, real.Outside
	}
	var tooLarge *workspace.TooLargeError
	var outside *workspace.OutsideError
	old, preview.FileSHA256, err = f.ws.ReadFile(p, int64(f.limits.Edit))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		preview.NewFile, preview.FileSHA256, err = true, workspace.Absent, nil
	case errors.As(err, &tooLarge):
		preview.Truncated = true
		preview.FileSHA256, err = f.ws.Hash(p)
	}
	if err != nil {
		preview.Outside = preview.Outside || errors.As(err, &outside)
		preview.Problem = readError(p, err).Error()
		return preview, old, p
	}
	if err = f.ws.Writable(p); err == nil {
		err = checkSum(p, want, preview.FileSHA256)
	}
	if err != nil {
		preview.Problem = writeError(p, err).Error()
	}
	return preview, old, p
}

// addDiff adds the unified diff with three lines of context.
func addDiff(preview *protocol.CallPreview, name string, before, after []byte) {
	name = filepath.ToSlash(name)
	before, after = narrow(before), narrow(after)
	switch {
	case preview.Truncated, len(before) > maxDiffFile, len(after) > maxDiffFile, !utf8.Valid(before), !utf8.Valid(after):
		preview.Truncated = true // nobody has seen what is in it
		return
	}
	from := name
	if preview.NewFile {
		from = "/dev/null" // on every system, as in the diffs of git
	}
	text := diff.Diff(from, before, name, after)
	_, text, _ = bytes.Cut(text, []byte("\n")) // "diff old new", which a unified diff does not have
	for i, line := range bytes.Split(text, []byte("\n")) {
		switch {
		case i < 2 || len(line) == 0: // the two names
		case line[0] == '+':
			preview.Added++
		case line[0] == '-':
			preview.Removed++
		}
	}
	if len(text) > diffLimit {
		preview.Truncated = true
		text = text[:diffLimit]
		if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
			text = text[:i+1]
		} else {
			text = text[:len(text)-partial(text)]
		}
	}
	preview.Diff = string(text)
}

// narrow is the text of a UTF-16 file, and anything else as it is.
func narrow(data []byte) []byte {
	if w := wideOf(data); w != nil {
		if text, ok := w.decode(data); ok {
			return text
		}
	}
	return data
}

func previewBash(ws *workspace.Root, jobs *Jobs, in bashIn) protocol.CallPreview {
	plan, err := planBash(ws, in)
	preview := protocol.CallPreview{Folder: plan.dir, Shell: shell(), Network: in.Network}
	if err == nil {
		err = jobs.network(in, true) // what remains is the person's to allow
	}
	if err != nil {
		preview.Problem = err.Error()
	}
	if plan.dir != "" {
		real := plan.dir
		if r, err := filepath.EvalSymlinks(real); err == nil {
			real = r
		}
		p, _ := ws.Resolve(real)
		preview.Outside = p.Outside
	}
	if bourne(preview.Shell) {
		preview.Folders = jobs.needs(ws, in.Command, plan.dir)
		preview.Programs = programs(in.Command, plan.dir)
	}
	return preview
}

// programs lists the programs that a command names, in the order it names them. It is a help for the reader, not a promise: names that
// the shell makes up as it runs are not in it.
func programs(command, dir string) (list []protocol.Program) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return nil
	}
	seen := map[string]bool{}
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		name := plain(call.Args[0])
		if name == "" || seen[name] || len(list) == maxPrograms {
			return true
		}
		seen[name] = true
		list = append(list, protocol.Program{Name: name, Path: find(name, dir)})
		return true
	})
	return list
}

// plain is a word's text when it is the same whatever happens, else "".
func plain(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				lit, ok := q.(*syntax.Lit)
				if !ok {
					return ""
				}
				b.WriteString(lit.Value)
			}
		default:
			return ""
		}
	}
	return b.String()
}

func find(name, dir string) string {
	if strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	return path
}
