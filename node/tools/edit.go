package tools

import (
	"bytes"
	"context"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/tool"
	"fairlead/node/workspace"
)

// maxEdit is the largest file that is edited.
const maxEdit = 64 << 20

type editIn struct {
	Path       string `json:"path" jsonschema:"file to edit; relative to the workspace"`
	OldString  string `json:"oldString" jsonschema:"the exact text to replace, with its white space"`
	NewString  string `json:"newString" jsonschema:"what to put in its place, taken literally"`
	ReplaceAll bool   `json:"replaceAll,omitempty" jsonschema:"replace every occurrence; default false, which needs exactly one"`
}

type editOut struct {
	Path         string `json:"path"`
	Replacements int    `json:"replacements"`
}

func editTool(ws *workspace.Root) tool.Tool {
	caps := []string{protocol.CapEdit, protocol.CapRead, protocol.CapWrite}
	t := tool.Define("Edit", doc("edit"), tool.Traits{Effect: protocol.EffectWrite, Caps: caps},
		func(ctx context.Context, in editIn) (editOut, error) { return runEdit(ctx, ws, in) })
	return tool.WithPreview(t, func(_ context.Context, in editIn) (protocol.CallPreview, error) { return previewEdit(ws, in), nil })
}

func runEdit(ctx context.Context, ws *workspace.Root, in editIn) (editOut, error) {
	p, err := resolveFile(ws, in.Path)
	if err != nil {
		return editOut{}, err
	}
	unlock, err := ws.Lock(ctx, p)
	if err != nil {
		return editOut{}, err
	}
	defer unlock()
	old, sum, err := ws.ReadFile(p, maxEdit)
	if err != nil {
		return editOut{}, readError(p, err)
	}
	if want := expectOf(ctx); want != "" && want != sum {
		return editOut{}, workspace.ErrChanged
	}
	data, n, err := replace(p, old, in)
	if err != nil {
		return editOut{}, err
	}
	if _, err := ws.Write(p, data, sum); err != nil {
		return editOut{}, writeError(p, err)
	}
	return editOut{Path: p.Abs, Replacements: n}, nil
}

// replace does the edit in memory. Occurrences are counted from the start and do not overlap. In a file with CRLF line ends an
// oldString with bare line feeds matches too, and newString then gets the file's line ends.
func replace(p workspace.Path, data []byte, in editIn) (out []byte, n int, err error) {
	if in.OldString == "" {
		return nil, 0, failf("oldString must not be empty. To create a file or replace all of it, use Write.")
	}
	from, to := []byte(in.OldString), []byte(in.NewString)
	n = bytes.Count(data, from)
	if n == 0 && bytes.ContainsRune(from, '\n') && !bytes.ContainsRune(from, '\r') && bytes.Contains(data, []byte("\r\n")) {
		from, to = crlf(from), crlf(to)
		n = bytes.Count(data, from)
	}
	switch {
	case n == 0:
		return nil, 0, failf("oldString not found in '%s'", p.Abs)
	case n > 1 && !in.ReplaceAll:
		return nil, 0, failf("oldString found %d times in '%s'. Use replaceAll: true or provide more context to make it unique.", n, p.Abs)
	}
	if grown := len(data) + n*(len(to)-len(from)); grown > maxEdit {
		return nil, 0, failf("Content too large: '%s' would have %d bytes, at most %d are possible", p.Abs, grown, maxEdit)
	}
	return bytes.ReplaceAll(data, from, to), n, nil
}

// crlf gives text CRLF line ends, once.
func crlf(text []byte) []byte {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
}
