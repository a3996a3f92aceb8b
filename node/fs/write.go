package fs

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	iofs "io/fs"
	"strings"
	"time"
	"unicode/utf8"

	"fairlead/gateway/peer/diff"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/workspace"
)

type writeIn struct {
	FileID         string  `json:"file_id,omitempty"`
	Path           string  `json:"path,omitempty"`
	Mode           string  `json:"mode,omitempty"`
	Encoding       string  `json:"encoding,omitempty"`
	Chunk          *string `json:"chunk,omitempty"`
	ChunkB64       *string `json:"chunk_b64,omitempty"`
	Done           bool    `json:"done,omitempty"`
	ExpectedSHA256 string  `json:"expected_sha256,omitempty"`
}

type writeOut struct {
	FileID   string `json:"file_id"`
	Path     string `json:"path"`
	Offset   int64  `json:"offset"`
	Total    int64  `json:"total"`
	SHA256   string `json:"sha256"`
	Done     bool   `json:"done"`
	Duration int64  `json:"duration_ms"`
}

// writer is a file that is written in parts.
type writer struct {
	at       workspace.Path
	encoding string        // of its parts; empty until a call says it, or has a part
	mode     iofs.FileMode // 0: as the old file, or newFileMode
	new      *workspace.Replacement
}

// data decodes the part of a call. encoding is that of the file's parts.
func (in writeIn) data(encoding string) ([]byte, error) {
	switch {
	case in.Chunk != nil && in.ChunkB64 != nil:
		return nil, protocol.NewFault(protocol.FaultInvalidArgs, "give chunk or chunk_b64, not both")
	case encoding == encodingUTF8 && in.ChunkB64 != nil:
		return nil, protocol.NewFault(protocol.FaultInvalidArgs, "with encoding utf8 the part belongs into chunk")
	case encoding == encodingBase64 && in.Chunk != nil:
		return nil, protocol.NewFault(protocol.FaultInvalidArgs, "with encoding base64 the part belongs into chunk_b64")
	case in.Chunk != nil:
		return sized([]byte(*in.Chunk))
	case in.ChunkB64 != nil:
		raw, err := base64.StdEncoding.DecodeString(*in.ChunkB64)
		if err != nil {
			return nil, protocol.NewFault(protocol.FaultInvalidArgs, "chunk_b64 is not Base64")
		}
		return sized(raw)
	}
	return nil, nil
}

func sized(raw []byte) ([]byte, error) {
	if len(raw) > maxPart {
		return nil, protocol.NewFault(protocol.FaultTooLarge, fmt.Sprintf("a part can have at most %d bytes: send more parts", maxPart))
	}
	return raw, nil
}

// coding returns the encoding that a call says, or that its part has; empty if it has neither.
func (in writeIn) coding() (string, error) {
	switch {
	case in.Encoding != "" && in.Encoding != encodingBase64 && in.Encoding != encodingUTF8:
		return "", protocol.NewFault(protocol.FaultInvalidArgs, "encoding must be base64 or utf8")
	case in.Encoding != "":
		return in.Encoding, nil
	case in.Chunk != nil && in.ChunkB64 == nil:
		return encodingUTF8, nil
	case in.ChunkB64 != nil && in.Chunk == nil:
		return encodingBase64, nil
	}
	return "", nil
}

// previewWrite shows the change if the first call has the whole content.
func previewWrite(f *files, in writeIn) protocol.CallPreview {
	return f.preview(in.Path, true, func(s access.Scope, p *protocol.CallPreview, at workspace.Path) {
		f.describeOld(s, p, at)
		if p.Problem != "" {
			return
		}
		coding, err := in.coding()
		if err == nil {
			_, err = parseMode(in.Mode)
		}
		var data []byte
		if err == nil {
			data, err = in.data(coding)
		}
		if err == nil && in.ExpectedSHA256 != "" && !strings.EqualFold(in.ExpectedSHA256, p.FileSHA256) {
			err = changedFault(at, p.FileSHA256)
		}
		if err != nil {
			access.SetProblem(p, err)
			return
		}
		p.Truncated = true // unless the change can be shown
		old, _, err := s.ReadFile(at, maxDiffFile)
		if !in.Done || len(data) > maxDiffFile || err != nil && !errors.Is(err, iofs.ErrNotExist) || !utf8.Valid(data) || !utf8.Valid(old) {
			return
		}
		from := s.Rel(at)
		if p.NewFile {
			from = "/dev/null"
		}
		d := diff.New(from, s.Rel(at), old, data)
		if len(d.Text) <= maxDiff {
			p.Truncated, p.Diff, p.Added, p.Removed = false, d.Text, d.Added, d.Removed
		}
	})
}

// Limits of a change that a preview shows, in bytes.
const (
	maxDiff     = 64 << 10
	maxDiffFile = 1 << 20
)

// describeOld describes the file that a call would replace.
func (f *files) describeOld(s access.Scope, p *protocol.CallPreview, at workspace.Path) {
	sum, err := s.Hash(at)
	if err == nil {
		err = s.Writable(at)
	}
	if err != nil {
		access.SetProblem(p, faultOf(err))
		return
	}
	p.FileSHA256 = sum
	if p.NewFile = sum == workspace.Absent; p.NewFile {
		access.SetProblem(p, nil) // that it does not exist is no problem for a write
		if real, _, err := s.Target(at); err == nil || errors.Is(err, iofs.ErrNotExist) {
			p.Path, p.Outside = real.String(), real.Outside
		}
	}
}

func changedFault(p workspace.Path, have string) error {
	f := protocol.NewFault(protocol.FaultFailedPrecondition, "'"+p.String()+"' has changed: its SHA-256 is "+have+". Nothing was written. Read it again.")
	return f.With(map[string]string{"observed_sha256": have})
}

// write writes the next part of a file. The last one replaces the file. Until then, and after an
// error, the old file is unchanged.
func (f *files) write(ctx context.Context, call access.Call, in writeIn) (out writeOut, err error) {
	began := time.Now()
	x, id := (*transfer)(nil), in.FileID
	if id == "" {
		if x, id, err = f.openToWrite(call, in); err != nil {
			return out, err
		}
		x.turn.Lock()
	} else {
		if in.Path != "" || in.Mode != "" || in.ExpectedSHA256 != "" {
			return out, protocol.NewFault(protocol.FaultInvalidArgs, "file_id continues a file; leave path, mode and expected_sha256 out")
		}
		if x, err = f.transfers.take(id); err != nil {
			return out, err
		}
	}
	defer x.turn.Unlock()
	w := x.writer
	if w == nil {
		return out, protocol.NewFault(protocol.FaultInvalidArgs, "this file_id belongs to a file that is being read")
	}
	data, err := w.part(in)
	if err != nil && in.FileID != "" {
		return out, err // the file stays open for the correct part
	}
	out = writeOut{FileID: id, Path: w.at.String(), Offset: w.new.Size()}
	if err == nil {
		_, err = w.new.Write(data)
	}
	out.Total, out.SHA256 = w.new.Size(), w.new.Sum()
	if err == nil && in.Done {
		out.Done = true
		err = f.commit(ctx, w, call)
	}
	if err != nil || in.Done {
		f.transfers.finish(id, x)
	}
	out.Duration = since(began)
	return out, at(w.at, "write", err)
}

// part decodes the part of a call. All parts of a file have one encoding.
func (w *writer) part(in writeIn) ([]byte, error) {
	coding, err := in.coding()
	if err != nil {
		return nil, err
	}
	if w.encoding != "" && coding != "" && coding != w.encoding {
		return nil, otherEncoding
	}
	data, err := in.data(coding)
	if err == nil {
		w.encoding = cmp.Or(w.encoding, coding)
	}
	return data, err
}

func (f *files) commit(ctx context.Context, w *writer, call access.Call) error {
	unlock, err := f.Lock(ctx, w.at)
	if err != nil {
		return err
	}
	defer unlock()
	_, err = w.new.Commit(w.mode, call.Backup)
	return err
}

// replace begins to replace or create a file; see workspace.Root.Replace.
func (f *files) replace(p workspace.Path, expect string) (*workspace.Replacement, error) {
	w, err := f.Replace(p, expect)
	if err == nil {
		if err = w.Restrict(newFileMode); err != nil {
			w.Abort()
		}
	}
	return w, at(p, "write", err)
}

func (f *files) openToWrite(call access.Call, in writeIn) (*transfer, string, error) {
	coding, err := in.coding()
	if err != nil {
		return nil, "", err
	}
	mode, err := parseMode(in.Mode)
	if err != nil {
		return nil, "", err
	}
	p, err := f.path(in.Path)
	if err != nil {
		return nil, "", err
	}
	expect := call.ExpectedSHA256
	if in.ExpectedSHA256 != "" {
		sum, err := f.Hash(p)
		if err != nil {
			return nil, "", at(p, "write", err)
		}
		if !strings.EqualFold(sum, in.ExpectedSHA256) {
			return nil, "", changedFault(p, sum)
		}
		if expect == "" {
			expect = sum
		}
	}
	w := &writer{at: p, encoding: coding, mode: mode}
	if w.new, err = f.replace(p, expect); err != nil {
		return nil, "", err
	}
	x := &transfer{caller: access.CallerID(call.Caller), writer: w}
	id, err := f.transfers.begin(x)
	if err != nil {
		w.new.Abort()
	}
	return x, id, err
}
