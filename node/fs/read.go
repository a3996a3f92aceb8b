package fs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"time"
	"unicode/utf8"

	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/textfile"
	"fairlead/node/workspace"
)

// Limits of one part in bytes.
const (
	defaultPart = 256 << 10
	maxPart     = 1 << 20
)

// Encodings of parts.
const (
	encodingBase64 = "base64"
	encodingUTF8   = "utf8"
)

type readIn struct {
	FileID   string `json:"file_id,omitempty"`
	Path     string `json:"path,omitempty"`
	Offset   int64  `json:"offset,omitempty"`
	Encoding string `json:"encoding,omitempty"`
	MaxBytes int    `json:"max_bytes,omitempty"`
}

type readOut struct {
	FileID   string  `json:"file_id"`
	Path     string  `json:"path"`
	ChunkB64 *[]byte `json:"chunk_b64,omitempty"` // Base64 in JSON
	Chunk    *string `json:"chunk,omitempty"`
	Offset   int64   `json:"offset"`
	Size     int     `json:"size"`
	Total    int64   `json:"total"`
	SHA256   string  `json:"sha256"`
	Done     bool    `json:"done"`
	Duration int64   `json:"duration_ms"`
}

// reader is a file that is read in parts.
type reader struct {
	path  string
	text  bool
	file  *os.File
	info  os.FileInfo // when it was opened
	at    int64       // offset of the next part
	sum   hash.Hash   // of the parts so far
	carry []byte      // the beginning of a character whose rest is not read yet
}

func previewRead(scope access.Scope, in readIn) protocol.CallPreview {
	return preview(scope, in.Path, false, nil)
}

// readTool is fs_read.
type readTool struct{ open *transfers }

// run returns the next part of a file. The checksum covers the parts so far.
func (t readTool) run(_ context.Context, ws *workspace.Root, call access.Call, in readIn) (out readOut, err error) {
	began := time.Now()
	if in.MaxBytes < 0 || in.MaxBytes > maxPart {
		return out, protocol.NewFault(protocol.FaultInvalidArgs, fmt.Sprintf("max_bytes must be 1 to %d", maxPart))
	}
	if in.MaxBytes == 0 {
		in.MaxBytes = defaultPart
	}
	x, id := (*transfer)(nil), in.FileID
	if id == "" {
		if x, id, err = t.begin(ws, call, in); err != nil {
			return out, err
		}
		x.turn.Lock()
	} else {
		if in.Path != "" || in.Offset != 0 {
			return out, protocol.NewFault(protocol.FaultInvalidArgs, "file_id continues a file; leave path and offset out")
		}
		if x, err = t.open.take(id); err != nil {
			return out, err
		}
	}
	defer x.turn.Unlock()
	if x.reader == nil {
		return out, protocol.NewFault(protocol.FaultInvalidArgs, "this file_id belongs to a file that is being written")
	}
	if in.FileID != "" && in.Encoding != "" && (in.Encoding == encodingUTF8) != x.reader.text {
		return out, otherEncoding
	}
	out, err = x.reader.next(in.MaxBytes)
	if err != nil || out.Done {
		t.open.finish(id, x)
	}
	out.FileID, out.Duration = id, since(began)
	return out, err
}

// otherEncoding is the failure of a call that continues a file with another encoding. The file stays
// open for the correct call.
var otherEncoding = protocol.NewFault(protocol.FaultInvalidArgs, "the parts of a file have one encoding: repeat that of the first call, or leave it out")

func (t readTool) begin(ws *workspace.Root, call access.Call, in readIn) (*transfer, string, error) {
	switch {
	case in.Encoding != "" && in.Encoding != encodingBase64 && in.Encoding != encodingUTF8:
		return nil, "", protocol.NewFault(protocol.FaultInvalidArgs, "encoding must be base64 or utf8")
	case in.Offset < 0:
		return nil, "", protocol.NewFault(protocol.FaultInvalidArgs, "offset must be 0 or more")
	case in.Offset > 0 && in.Encoding == encodingUTF8:
		return nil, "", protocol.NewFault(protocol.FaultInvalidArgs, "offset needs encoding base64: it may lie inside a character")
	}
	p, err := resolve(ws, in.Path)
	if err != nil {
		return nil, "", err
	}
	file, info, err := ws.Open(p)
	if err != nil {
		return nil, "", unreadable(ws, p, "read", err)
	}
	if in.Offset > info.Size() {
		file.Close()
		return nil, "", protocol.NewFault(protocol.FaultInvalidArgs, fmt.Sprintf("offset %d is after the end of the file, which has %d bytes", in.Offset, info.Size()))
	}
	x := &transfer{caller: access.CallerID(call.Caller), reader: &reader{path: p.String(), text: in.Encoding == encodingUTF8, file: file, info: info, at: in.Offset, sum: sha256.New()}}
	id, err := t.open.begin(x)
	if err != nil {
		file.Close()
	}
	return x, id, err
}

// next reads the next part.
func (r *reader) next(most int) (out readOut, err error) {
	raw := make([]byte, most)
	n, err := r.file.ReadAt(raw, r.at+int64(len(r.carry)))
	if err != nil && !errors.Is(err, io.EOF) {
		return out, protocol.NewFault(protocol.FaultInternal, "Failed to read '"+r.path+"': "+err.Error())
	}
	out = readOut{Path: r.path, Offset: r.at, Total: r.info.Size()}
	now, err := r.file.Stat()
	if err != nil || !now.ModTime().Equal(r.info.ModTime()) || now.Size() != r.info.Size() {
		return out, protocol.NewFault(protocol.FaultFailedPrecondition, "'"+r.path+"' changed while it was read. Begin again.")
	}
	raw = append(r.carry, raw[:n]...)
	out.Done = r.at+int64(len(raw)) >= out.Total
	r.carry = nil
	if r.text && !out.Done {
		rest := textfile.Incomplete(raw)
		raw, r.carry = raw[:len(raw)-rest], append([]byte(nil), raw[len(raw)-rest:]...)
	}
	if r.text && !utf8.Valid(raw) {
		return out, protocol.NewFault(protocol.FaultInvalidArgs, "'"+r.path+"' is not UTF-8. Read it with encoding base64.")
	}
	r.sum.Write(raw)
	r.at += int64(len(raw))
	out.Size, out.SHA256 = len(raw), hex.EncodeToString(r.sum.Sum(nil))
	if r.text {
		text := string(raw)
		out.Chunk = &text
	} else {
		out.ChunkB64 = &raw
	}
	return out, nil
}
