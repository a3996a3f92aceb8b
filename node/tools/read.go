package tools

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/tool"
	"fairlead/node/workspace"
)

const (
	maxImage = 10 << 20 // seed 000, Read
	// maxText is the most text one Read returns; more would not fit into a model's window, let alone a frame.
	maxText = 4 << 20
	// maxWide is the largest UTF-16 file that is converted.
	maxWide = 64 << 20
	sniff   = 8 << 10
)

type readIn struct {
	Path   string   `json:"path" jsonschema:"file to read; relative to the workspace"`
	Offset *float64 `json:"offset,omitempty" jsonschema:"line to start at, counted from 0; default 0"`
	Limit  *float64 `json:"limit,omitempty" jsonschema:"most lines to read; default all"`
}

type readText struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Lines   int    `json:"lines"`
}

type readImage struct {
	Content protocol.Content `json:"content"`
}

func readTool(ws *workspace.Root) tool.Tool {
	t := tool.Define("Read", doc("read"), tool.Traits{Effect: protocol.EffectRead, Idempotent: true, Caps: []string{protocol.CapRead}},
		func(ctx context.Context, in readIn) (any, error) { return runRead(ctx, ws, in) })
	return tool.WithPreview(t, func(_ context.Context, in readIn) (protocol.CallPreview, error) { return previewPath(ws, in.Path), nil })
}

func runRead(ctx context.Context, ws *workspace.Root, in readIn) (any, error) {
	offset, err := whole("offset", in.Offset, 0)
	if err != nil {
		return nil, err
	}
	limit, err := whole("limit", in.Limit, -1)
	if err != nil {
		return nil, err
	}
	p, err := resolveFile(ws, in.Path)
	if err != nil {
		return nil, err
	}
	f, info, err := ws.Open(p)
	if err != nil {
		return nil, readError(p, err)
	}
	defer f.Close()
	head := make([]byte, sniff)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, readError(p, err)
	}
	head = head[:n]
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, readError(p, err)
	}
	var src io.Reader = f
	if wide := wideText(f, head, info.Size()); wide != nil {
		src = bytes.NewReader(wide)
	} else if !textStart(head, int64(n) == info.Size()) {
		return readBinary(p, f, head, info.Size())
	}
	content, lines, err := numbered(ctx, src, offset, limit)
	if errors.Is(err, errNotText) {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, readError(p, err)
		}
		return readBinary(p, f, head, info.Size())
	}
	if errors.Is(err, errTooMuch) {
		return nil, failf("File too large: '%s' has %d bytes and one Read returns at most %d of text. Read it in parts with offset and limit.", p.Abs, info.Size(), maxText)
	}
	if err != nil {
		return nil, readError(p, err)
	}
	return readText{Path: p.Abs, Content: content, Lines: lines}, nil
}

// resolveFile is Resolve for a path that must be given.
func resolveFile(ws *workspace.Root, path string) (workspace.Path, error) {
	if path == "" {
		return workspace.Path{}, failf("path must not be empty")
	}
	return ws.Resolve(path)
}

// readError words why a file could not be read.
func readError(p workspace.Path, err error) error {
	var outside *workspace.OutsideError
	switch {
	case errors.As(err, &outside):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return failf("Failed to read '%s': no such file", p.Abs)
	}
	return failf("Failed to read '%s': %w", p.Abs, unwrapPath(err))
}

// unwrapPath drops the path that os puts before an error.
func unwrapPath(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// textStart reports whether a file that begins with head can be UTF-8. A character cut at the end of head is fine unless head is all.
func textStart(head []byte, all bool) bool {
	if all {
		return utf8.Valid(head)
	}
	for i := 0; i < utf8.UTFMax && i < len(head); i++ {
		if utf8.Valid(head[:len(head)-i]) {
			return true
		}
	}
	return len(head) == 0
}

// wideText converts a UTF-16 file with a byte order mark; nil when it is not one.
func wideText(f *os.File, head []byte, size int64) []byte {
	little := bytes.HasPrefix(head, []byte{0xff, 0xfe})
	if !little && !bytes.HasPrefix(head, []byte{0xfe, 0xff}) || size > maxWide || size%2 != 0 {
		return nil
	}
	raw, err := io.ReadAll(io.NewSectionReader(f, 2, size-2))
	if err != nil {
		return nil
	}
	units := make([]uint16, len(raw)/2)
	for i := range units {
		a, b := uint16(raw[2*i]), uint16(raw[2*i+1])
		if little {
			a, b = b, a
		}
		units[i] = a<<8 | b
	}
	return []byte(string(utf16.Decode(units)))
}

var (
	errNotText = errors.New("not UTF-8")
	errTooMuch = errors.New("too much text")
)

// numbered reads limit lines (all when negative) from offset on as "{n}\t{line}", joined by line feeds. A line's carriage return is kept. Lines
// before offset cost only the search for their ends; what comes after the last is not read.
func numbered(ctx context.Context, src io.Reader, offset, limit int64) (string, int, error) {
	r := bufio.NewReaderSize(src, 64<<10)
	for skipped := int64(0); skipped < offset; {
		_, err := r.ReadSlice('\n')
		switch {
		case err == nil:
			if skipped++; skipped%4096 == 0 && ctx.Err() != nil {
				return "", 0, ctx.Err()
			}
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return "", 0, nil
		default:
			return "", 0, err
		}
	}
	var out []byte
	lines := int64(0)
	for limit < 0 || lines < limit {
		if lines%4096 == 0 && ctx.Err() != nil {
			return "", 0, ctx.Err()
		}
		mark := len(out)
		if lines > 0 {
			out = append(out, '\n')
		}
		out = strconv.AppendInt(out, offset+lines+1, 10)
		out = append(out, '\t')
		start := len(out)
		var err error
		for more := true; more; {
			var part []byte
			part, err = r.ReadSlice('\n')
			out = append(out, part...)
			more = errors.Is(err, bufio.ErrBufferFull)
			if len(out) > maxText {
				return "", 0, errTooMuch
			}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return "", 0, err
		}
		if err != nil && len(out) == start { // the end, right after a line feed
			out = out[:mark]
			break
		}
		out = bytes.TrimSuffix(out, []byte("\n"))
		if !utf8.Valid(out[start:]) {
			return "", 0, errNotText
		}
		lines++
		if err != nil {
			break
		}
	}
	return string(out), int(lines), nil
}

// readBinary returns an image, or says what else the file is.
func readBinary(p workspace.Path, f io.Reader, head []byte, size int64) (any, error) {
	mime, _, _ := strings.Cut(mimetype.Detect(head).String(), ";")
	name := filepath.Base(p.Abs)
	if !strings.HasPrefix(mime, "image/") {
		return nil, failf("Binary file: %s (%s, %d bytes) — not a text or image file", name, mime, size)
	}
	tooLarge := failf("Image file too large (%.1f MB, max 10.0 MB): %s", float64(size)/(1<<20), name)
	if size > maxImage {
		return nil, tooLarge
	}
	data, err := io.ReadAll(io.LimitReader(f, maxImage+1))
	if err != nil {
		return nil, readError(p, err)
	}
	if len(data) > maxImage {
		return nil, tooLarge
	}
	return readImage{protocol.Content{
		protocol.Text(fmt.Sprintf("Image file: %s (%s, %d bytes)", name, mime, len(data))),
		{Type: protocol.BlockImage, Data: base64.StdEncoding.EncodeToString(data), MimeType: mime},
	}}, nil
}
