package catalog

import (
	"context"
	"encoding/json"
	"fmt"

	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/job"
)

// lastPart are the arguments with which a machine's tool fs_write finishes a file.
type lastPart struct {
	FileID string `json:"file_id"`
	Path   string `json:"path"`
	SHA256 string `json:"sha256"` // of the content that takes effect
	Done   bool   `json:"done"`
}

// errOldMachine is the failure of a file in parts on a machine whose version writes what nobody has
// seen.
var errOldMachine = protocol.NewFault(protocol.FaultUnsupported, "the machine runs a version of Fairlead that cannot write a file in parts: update it, or send the file in one part with done")

// write writes a file, or collects a part of it. What was collected takes effect with the last
// part, which is a call of its own: the rules and the person see the whole change.
func (f files) write(ctx context.Context, x *call, in writeIn) (out writeOut, message string, err error) {
	isLast := in.FileID != "" && in.Done
	var open job.Opened
	if isLast {
		if open, err = f.commands.Find(x.principal, in.FileID, fsWrite); err != nil {
			return out, "", err
		}
		in.Done = false // first its content
	}
	raw, p, err := f.part(ctx, x, fsWrite, in.FileID, in.Target, in)
	if err != nil {
		return out, "", err
	}
	if err := protocol.Unmarshal(raw, &out); err != nil {
		return out, "", err
	}
	switch {
	case !p.Done && !p.Collects:
		f.commands.Drop(ctx, out.FileID)
		return out, "", errOldMachine
	case !isLast && !out.Done:
		return out, fmt.Sprintf("%d bytes collected", out.Total), nil
	case isLast:
		collected := out
		if err := f.finish(ctx, x, open.Node, lastPart{out.FileID, out.Path, out.SHA256, true}, &out); err != nil {
			return out, "", err
		}
		out.Offset, out.DurationMs = collected.Offset, collected.DurationMs+out.DurationMs
	}
	return out, fmt.Sprintf("%d bytes written", out.Total), nil
}

// finish makes collected content take effect. If it does not, the content is dropped: the caller
// begins again, because it may not know which of its parts arrived.
func (f files) finish(ctx context.Context, x *call, node protocol.NodeID, last lastPart, out any) error {
	err := x.run(ctx, node, fsWrite, last, out)
	if err != nil {
		f.commands.Drop(ctx, last.FileID)
		return err
	}
	f.commands.Remove(last.FileID)
	return nil
}

// fetch lets the machine download an address; the gateway does not see the bytes. Unless the caller
// named the checksum before, the content is shown before it takes effect.
func (f files) fetch(ctx context.Context, x *call, in fileIn) (out fetchOut, message string, err error) {
	node, err := f.net.resolve(x.principal, in.Target)
	if err != nil {
		return out, "", err
	}
	var raw json.RawMessage
	if raw, err = x.runRaw(ctx, protocol.NewToolName(node, fsFetch), protocol.Encode(in.fetch())); err == nil {
		err = protocol.Unmarshal(raw, &out)
	}
	var held struct {
		FileID string `json:"file_id"`
	}
	if err == nil {
		err = protocol.Unmarshal(raw, &held)
	}
	if err == nil && held.FileID != "" {
		x.begun(held.FileID, node, fsWrite, "")
		var written writeOut
		err = f.finish(ctx, x, node, lastPart{held.FileID, out.Path, out.SHA256, true}, &written)
		out.DurationMs += written.DurationMs
	}
	return out, fmt.Sprintf("Downloaded %d bytes", out.Total), err
}
