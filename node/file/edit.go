package file

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/textfile"
	"fairlead/node/workspace"
)

const maxEdits = 1000

type editIn struct {
	Path           string     `json:"path" jsonschema:"file to edit; relative to the workspace"`
	OldString      string     `json:"oldString" jsonschema:"the exact text to replace, with its white space"`
	NewString      string     `json:"newString" jsonschema:"the replacement, inserted literally"`
	ReplaceAll     bool       `json:"replaceAll,omitempty" jsonschema:"replace every occurrence; default false, which needs exactly one"`
	Edits          []editStep `json:"edits,omitempty" jsonschema:"further replacements, made in order after the first; all or none"`
	ExpectedSHA256 string     `json:"expectedSha256,omitempty" jsonschema:"edit only if the file's SHA-256 is this"`
}

type editStep struct {
	OldString  string `json:"oldString" jsonschema:"the exact text to replace"`
	NewString  string `json:"newString" jsonschema:"the replacement"`
	ReplaceAll bool   `json:"replaceAll,omitempty" jsonschema:"replace every occurrence"`
}

// steps returns the replacements in order. The plain arguments are the first one, unless both are
// empty and there are others.
func (in editIn) steps() []editStep {
	if in.OldString == "" && in.NewString == "" && len(in.Edits) > 0 {
		return in.Edits
	}
	return append([]editStep{{in.OldString, in.NewString, in.ReplaceAll}}, in.Edits...)
}

// editOut is the output of Edit. The fields after Replacements are extensions. The checksums are
// those of the file before and after.
type editOut struct {
	Path         string `json:"path"`
	Replacements int    `json:"replacements"`
	Bytes        int    `json:"bytes"`
	SHA256       string `json:"sha256,omitempty"`
	OldSHA256    string `json:"oldSha256,omitempty"`
	OldBytes     int    `json:"oldBytes,omitempty"`
	OtherNames   int    `json:"otherNames,omitempty"` // hard links that still have the old content
}

//go:embed edit.md
var editDoc string

func (t tools) editTool() toolkit.Tool[access.Call] {
	caps := []string{protocol.CapEdit, protocol.CapRead, protocol.CapWrite}
	d := toolkit.Define("Edit", editDoc, toolkit.Traits{Effect: protocol.EffectWrite, Caps: caps}, forCalls(t, files.edit))
	return toolkit.WithPreview(d, func(ctx context.Context, _ access.Call, in editIn) (protocol.CallPreview, error) {
		return t.scope.Preview(in.Path, true, func(s access.Scope) (protocol.CallPreview, error) { return t.within(s).previewEdit(ctx, in), nil })
	})
}

func (f files) edit(ctx context.Context, call access.Call, in editIn) (editOut, error) {
	p, err := resolveFile(f.ws, in.Path)
	if err != nil {
		return editOut{}, err
	}
	unlock, err := f.ws.Lock(ctx, p)
	if err != nil {
		return editOut{}, err
	}
	defer unlock()
	old, sum, err := f.ws.ReadFile(p, int64(f.limits.edit))
	if errors.Is(err, fs.ErrNotExist) {
		return editOut{}, notFound(p)
	}
	if err != nil {
		return editOut{}, access.ReadError(p, err)
	}
	if want := call.ExpectedSHA256; want != "" && want != sum {
		return editOut{}, workspace.ErrChanged
	}
	if err := access.CompareChecksum(p, in.ExpectedSHA256, sum); err != nil {
		return editOut{}, err
	}
	if err := f.ws.Writable(p); err != nil {
		return editOut{}, writeError(p, err)
	}
	data, n, err := f.applyEdits(ctx, p, old, in)
	if err != nil {
		return editOut{}, err
	}
	out := editOut{Path: p.String(), Replacements: n, Bytes: len(data), SHA256: sum, OldSHA256: sum, OldBytes: len(old)}
	if bytes.Equal(data, old) {
		return out, nil // the modification time stays, so that nothing is built again
	}
	w, err := f.ws.Write(p, data, sum, call.Backup)
	if err != nil {
		return editOut{}, writeError(p, err)
	}
	out.SHA256, out.OtherNames = w.SHA256, w.OtherNames
	return out, nil
}

func notFound(p workspace.Path) error {
	return protocol.NewFault(protocol.FaultNotFound, fmt.Sprintf("File not found: '%s'. To create it, use Write.", p))
}

// applyEdits carries out an edit in memory; in a UTF-16 file, on its text. Either all steps succeed
// or none is done.
func (f files) applyEdits(ctx context.Context, p workspace.Path, data []byte, in editIn) (out []byte, n int, err error) {
	steps := in.steps()
	if len(steps) > maxEdits {
		return nil, 0, toolkit.Failf("edits has %d replacements, at most %d are possible", len(steps), maxEdits)
	}
	text, w := data, textfile.DetectUTF16(data)
	if w != nil {
		var ok bool
		if text, ok = w.Decode(data); !ok {
			text, w = data, nil
		}
	}
	for i, step := range steps {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		if w != nil && !utf8.ValidString(step.NewString) {
			return nil, 0, toolkit.Failf("newString is not UTF-8")
		}
		if w == nil && !isASCII(step.NewString) && !utf8.Valid(text) {
			return nil, 0, toolkit.Failf("'%s' is not UTF-8 text, so newString may have only ASCII characters: others would mix two encodings. %s", p, convertAdvice)
		}
		done, k, err := replace(p, text, step, f.limits.edit)
		if err != nil && len(steps) > 1 {
			return nil, 0, toolkit.Failf("Replacement %d of %d: %w. Nothing was written.", i+1, len(steps), err)
		}
		if err != nil {
			return nil, 0, err
		}
		text, n = done, n+k
	}
	if w != nil {
		if text = w.Encode(text); len(text) > f.limits.edit {
			return nil, 0, contentTooLarge(p, int64(len(text)), f.limits.edit)
		}
	}
	return text, n, nil
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// replace carries out one step. Occurrences are counted from the start and do not overlap. Line
// ends are preserved: in a file with only CRLF, bare line feeds of both strings stand for CRLF,
// unless oldString contains carriage returns itself. In a file with mixed line ends, oldString is
// searched for as given first and then with CRLF.
func replace(p workspace.Path, data []byte, in editStep, most int) (out []byte, n int, err error) {
	if in.OldString == "" {
		return nil, 0, toolkit.Failf("oldString must not be empty. To create a file or replace all of it, use Write.")
	}
	if in.OldString == in.NewString {
		return nil, 0, toolkit.Failf("oldString and newString are the same, so there is nothing to change")
	}
	from, to := []byte(in.OldString), []byte(in.NewString)
	if bytes.IndexByte(from, '\r') < 0 {
		ends := bytes.Count(data, []byte("\r\n"))
		switch {
		case ends == 0:
		case ends == bytes.Count(data, lineFeed):
			from, to = crlf(from), crlf(to)
		case bytes.IndexByte(from, '\n') >= 0 && !bytes.Contains(data, from):
			from, to = crlf(from), crlf(to)
		}
	}
	n = bytes.Count(data, from)
	switch {
	case n == 0:
		return nil, 0, toolkit.Failf("oldString not found in '%s'%s", p, nearest(string(data), in.OldString))
	case n > 1 && !in.ReplaceAll:
		return nil, 0, toolkit.Failf("oldString found %d times in '%s'. Use replaceAll: true or provide more context to make it unique.", n, p)
	}
	if grown := int64(len(data)) + int64(n)*int64(len(to)-len(from)); grown > int64(most) {
		return nil, 0, contentTooLarge(p, grown, most)
	}
	return bytes.ReplaceAll(data, from, to), n, nil
}

// crlf converts the line ends of text to CRLF; existing CRLF stay.
func crlf(text []byte) []byte {
	text = bytes.ReplaceAll(text, []byte("\r\n"), lineFeed)
	return bytes.ReplaceAll(text, lineFeed, []byte("\r\n"))
}
