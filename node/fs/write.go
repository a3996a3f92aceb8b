package fs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	iofs "io/fs"
	"time"

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
	// SHA256 is the checksum of the collected parts, with which the last call of a file names what
	// takes effect. Path is then that of the first call.
	SHA256 string `json:"sha256,omitempty"`
	Abort  bool   `json:"abort,omitempty"` // drops the collected parts
}

type writeOut struct {
	FileID   string `json:"file_id"`
	Path     string `json:"path"`
	Offset   int64  `json:"offset"`
	Total    int64  `json:"total"`
	SHA256   string `json:"sha256"`
	Done     bool   `json:"done"`
	Collects bool   `json:"collects,omitempty"` // nothing takes effect before the last call
	Duration int64  `json:"duration_ms"`
}

// writer is a file that is written in parts.
type writer struct {
	at       workspace.Path
	encoding string        // of its parts; empty until a call says it, or has a part
	mode     iofs.FileMode // 0: as the old file, or newFileMode
	expect   string        // checksum of the old file; empty for any
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

// writeTool is fs_write.
type writeTool struct{ open *transfers }

// preview shows the change, or that the call only collects a part.
func (t writeTool) preview(scope access.Scope, in writeIn) protocol.CallPreview {
	if in.FileID != "" {
		return t.previewLast(scope, in)
	}
	p := preview(scope, in.Path, true, func(ws *workspace.Root, p *protocol.CallPreview, at workspace.Path) {
		var old []byte
		if *p, old = access.PreviewWrite(ws, at, in.ExpectedSHA256, diff.MaxFile); p.Problem != "" {
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
		if err != nil {
			access.SetProblem(p, err)
			return
		}
		sum := sha256.Sum256(data)
		describeChange(p, ws, at, old, data, protocol.FileContent{Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:])})
	})
	if p.Collects = !in.Done; p.Collects { // it needs no folder: the parts may be collected elsewhere
		p.Folders, p.Diff, p.Added, p.Removed, p.Truncated, p.Content = nil, "", 0, 0, true, nil
	}
	return p
}

// run writes the next part of a file. The last one replaces the file. Until then, and after an
// error, the old file is unchanged.
func (t writeTool) run(ctx context.Context, ws *workspace.Root, call access.Call, in writeIn) (out writeOut, err error) {
	began := time.Now()
	x, id, err := t.writing(ws, call, in)
	if err != nil {
		return out, err
	}
	defer x.turn.Unlock()
	w := x.writer
	if in.Abort {
		t.open.finish(id, x)
		return out, nil
	}
	data, err := w.part(in)
	if err != nil && in.FileID != "" {
		return out, err // the file stays open for the correct part
	}
	out = writeOut{FileID: id, Path: w.at.String(), Offset: w.new.Size()}
	if err == nil && len(data) > 0 {
		if err = t.open.room(x, int64(len(data))); err == nil {
			_, err = w.new.Write(data)
		}
	}
	out.Total, out.SHA256, out.Collects = w.new.Size(), w.new.Sum(), !in.Done
	if err == nil && in.Done {
		out.Done = true
		err = w.commit(ctx, ws, call)
	}
	if err != nil || in.Done {
		t.open.finish(id, x)
	}
	out.Duration = since(began)
	return out, at(w.at, "write", err)
}

// writing returns the file of a call, locked, and its ID.
func (t writeTool) writing(ws *workspace.Root, call access.Call, in writeIn) (x *transfer, id string, err error) {
	switch {
	case in.FileID == "":
		if x, id, err = t.begin(ws, call, in); err == nil {
			x.turn.Lock()
		}
		return x, id, err
	case in.SHA256 != "":
		x, err = t.lastPart(in)
		return x, in.FileID, err
	case in.Path != "" || in.Mode != "" || in.ExpectedSHA256 != "":
		return nil, "", protocol.NewFault(protocol.FaultInvalidArgs, "file_id continues a file; leave path, mode and expected_sha256 out")
	}
	if x, err = t.open.take(in.FileID); err == nil && x.writer == nil {
		x.turn.Unlock()
		err = protocol.NewFault(protocol.FaultInvalidArgs, "this file_id belongs to a file that is being read")
	}
	return x, in.FileID, err
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

// replace begins to replace or create a file; see workspace.Root.Replace.
func replace(ws *workspace.Root, p workspace.Path, expect string) (*workspace.Replacement, error) {
	w, err := ws.Replace(p, expect)
	if err == nil {
		if err = w.Restrict(newFileMode); err != nil {
			w.Abort()
		}
	}
	return w, at(p, "write", err)
}

func (t writeTool) begin(ws *workspace.Root, call access.Call, in writeIn) (*transfer, string, error) {
	coding, err := in.coding()
	if err != nil {
		return nil, "", err
	}
	mode, err := parseMode(in.Mode)
	if err != nil {
		return nil, "", err
	}
	p, err := destination(ws, in.Path, !in.Done)
	if err != nil {
		return nil, "", err
	}
	w := &writer{at: p, encoding: coding, mode: mode}
	if in.ExpectedSHA256 != "" {
		sum, err := ws.Hash(p)
		if err != nil {
			return nil, "", at(p, "write", err)
		}
		if err := access.CompareChecksum(p, in.ExpectedSHA256, sum); err != nil {
			return nil, "", err
		}
		w.expect = sum
	}
	if in.Done {
		w.new, err = replace(ws, p, cmp.Or(call.ExpectedSHA256, w.expect))
	} else {
		w.new, err = collect(ws, p)
	}
	if err != nil {
		return nil, "", err
	}
	x := &transfer{caller: access.CallerID(call.Caller), writer: w}
	id, err := t.open.begin(x)
	if err != nil {
		w.new.Abort()
	}
	return x, id, err
}
