package file

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/textfile"
	"fairlead/node/workspace"

	"github.com/gabriel-vasile/mimetype"
)

const (
	headSize = 8 << 10
	// readTries is how often a Read starts again when the file changes meanwhile.
	readTries = 3
)

type readIn struct {
	Path   string   `json:"path" jsonschema:"file to read; relative to the workspace"`
	Offset *float64 `json:"offset,omitempty" jsonschema:"line to start at, counted from 0; default 0"`
	Limit  *float64 `json:"limit,omitempty" jsonschema:"maximum number of lines; default all that one call can return"`
}

// readText is the output of Read for a text file. The fields after Lines are extensions.
type readText struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Lines   int    `json:"lines"`
	// Truncated means fewer lines than requested, or a part of a line: the size limit was reached.
	Truncated bool   `json:"truncated,omitempty"`
	SHA256    string `json:"sha256,omitempty"` // of the file, if all of it was read
}

type readImage struct {
	Content protocol.Content `json:"content"`
}

//go:embed read.md
var readDoc string

func (t tools) readTool() toolkit.Tool[access.Call] {
	d := toolkit.Define("Read", readDoc, toolkit.Traits{Effect: protocol.EffectRead, Idempotent: true, Caps: []string{protocol.CapRead}}, forCalls(t, files.read))
	return toolkit.WithPreview(toolkit.WithResults(d, readText{}, readImage{}), func(_ context.Context, _ access.Call, in readIn) (protocol.CallPreview, error) {
		return t.scope.PreviewRead(in.Path)
	})
}

func (f files) read(ctx context.Context, call access.Call, in readIn) (any, error) {
	offset, err := toolkit.WholeNumber("offset", in.Offset, 0)
	if err != nil {
		return nil, err
	}
	limit, err := toolkit.WholeNumber("limit", in.Limit, -1)
	if err != nil {
		return nil, err
	}
	p, err := resolveFile(f.ws, in.Path)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		out, changed, err := f.readOnce(ctx, p, offset, limit)
		if changed && try < readTries && ctx.Err() == nil {
			continue
		}
		return out, err
	}
}

// readOnce reads a file's present content. changed reports that the file was changed meanwhile
// other than by appending, so that line numbers may be wrong.
func (f files) readOnce(ctx context.Context, p workspace.Path, offset, limit int64) (out any, changed bool, err error) {
	file, info, err := f.ws.Open(p)
	if err != nil {
		return nil, false, access.MissingError(f.ws, p, err)
	}
	defer file.Close()
	head := make([]byte, headSize)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, false, access.ReadError(p, err)
	}
	head = head[:n]
	if w := textfile.DetectUTF16(head); w != nil {
		if info.Size() > f.limits.readWide {
			return nil, false, access.TooLarge(p, "is UTF-16 and", info.Size(), f.limits.readWide)
		}
		if text, ok := readWide(file, w, f.limits.readWide); ok {
			out, err = f.text(ctx, p, bytes.NewReader(text), lineRange{offset, limit}, nil)
			return out, false, err
		}
	}
	if !startsAsText(head, n < headSize) || bytes.IndexByte(head, 0) >= 0 && strings.HasPrefix(mimeOf(head), "image/") {
		out, err = f.binary(p, file, head, info.Size())
		return out, false, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, false, access.ReadError(p, err)
	}
	var sum hash.Hash
	if offset == 0 && info.Size() <= int64(f.limits.readText) {
		sum = sha256.New()
	}
	out, err = f.text(ctx, p, file, lineRange{offset, limit}, sum)
	if errors.Is(err, errNotText) {
		out, err = f.binary(p, file, head, info.Size())
		return out, false, err
	}
	now, statErr := file.Stat()
	return out, statErr == nil && isRewritten(info, now), err
}

// isRewritten reports whether a file has changed since before, other than by growing.
func isRewritten(before, now os.FileInfo) bool {
	return now.Size() < before.Size() || now.Size() == before.Size() && !now.ModTime().Equal(before.ModTime())
}

// text returns the answer for a text at the beginning of src. If sum is not nil, the whole file is
// written to it.
func (f files) text(ctx context.Context, p workspace.Path, src io.ReadSeeker, lr lineRange, sum hash.Hash) (any, error) {
	start, err := src.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, access.ReadError(p, err)
	}
	var from io.Reader = src
	if sum != nil {
		from = io.TeeReader(src, sum)
	}
	pg, err := numberLines(ctx, from, lr, f.limits.readText)
	if errors.Is(err, errTooManyControls) {
		if _, err := src.Seek(start, io.SeekStart); err != nil {
			return nil, access.ReadError(p, err)
		}
		sum = nil
		pg, err = numberLines(ctx, src, lr, maxEncoded/6)
	}
	switch {
	case errors.Is(err, errNotText), ctx.Err() != nil && err != nil:
		return nil, err
	case err != nil:
		return nil, access.ReadError(p, err)
	}
	out := readText{Path: p.String(), Content: pg.content, Lines: pg.lines, Truncated: pg.isTruncated}
	if sum != nil && pg.isAtEnd {
		out.SHA256 = hex.EncodeToString(sum.Sum(nil))
	}
	return out, nil
}

const convertAdvice = "Convert it with Bash, such as: iconv -f LATIN1 -t UTF-8 FILE"

func resolveFile(ws *workspace.Root, path string) (workspace.Path, error) {
	if path == "" {
		return workspace.Path{}, toolkit.Failf("path must not be empty")
	}
	return ws.Resolve(path)
}

// startsAsText reports whether a file that begins with head can be UTF-8. A character may be cut
// off at the end of head unless head is the whole file.
func startsAsText(head []byte, all bool) bool {
	if !all {
		head = head[:len(head)-textfile.Incomplete(head)]
	}
	return utf8.Valid(head)
}

// readWide reads and converts a UTF-16 file of at most limit bytes.
func readWide(file io.ReaderAt, w *textfile.UTF16, limit int64) (text []byte, ok bool) {
	raw, err := io.ReadAll(io.NewSectionReader(file, 0, limit+1))
	if err != nil || int64(len(raw)) > limit {
		return nil, false
	}
	return w.Decode(raw)
}

func mimeOf(head []byte) string {
	mime, _, _ := strings.Cut(mimetype.Detect(head).String(), ";")
	return mime
}

// isText reports whether a file's first bytes look like text in an encoding of single bytes.
func isText(head []byte) bool {
	if textfile.DetectUTF16(head) != nil || bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	for mime := mimetype.Detect(head); mime != nil; mime = mime.Parent() {
		if mime.Is("text/plain") {
			return true
		}
	}
	return false
}

// binary returns an image, or an error with the type of any other file.
func (f files) binary(p workspace.Path, file io.ReaderAt, head []byte, size int64) (any, error) {
	mime, name := mimeOf(head), workspace.Spell(filepath.Base(p.Abs))
	switch {
	case isText(head):
		return nil, toolkit.Failf("Not UTF-8 text: %s (%s, %d bytes) has another encoding, perhaps Latin-1. %s", name, mime, size, convertAdvice)
	case strings.HasPrefix(mime, "text/"): // such as a byte order mark before binary data
		mime = "application/octet-stream"
	}
	if !strings.HasPrefix(mime, "image/") {
		return nil, toolkit.Failf("Binary file: %s (%s, %d bytes) — not a text or image file", name, mime, size)
	}
	most := f.limits.readImage
	tooLarge := toolkit.Failf("Image file too large (%.1f MB, max %.1f MB): %s", float64(size)/(1<<20), float64(most)/(1<<20), name)
	if size > most {
		return nil, tooLarge
	}
	data, err := io.ReadAll(io.NewSectionReader(file, 0, most+1))
	if err != nil {
		return nil, access.ReadError(p, err)
	}
	if int64(len(data)) > most {
		return nil, tooLarge
	}
	return readImage{protocol.Content{
		protocol.Text(fmt.Sprintf("Image file: %s (%s, %d bytes)", name, mime, len(data))),
		{Type: protocol.BlockImage, Data: base64.StdEncoding.EncodeToString(data), MimeType: mime},
	}}, nil
}
