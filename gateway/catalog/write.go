package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"fairlead/gateway/protocol"
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
func (c *Catalog) write(ctx context.Context, x *call, in writeIn) (out writeOut, message string, err error) {
	isLast := in.FileID != "" && in.Done
	var s session
	if isLast {
		if s, err = x.session(in.FileID, fsWrite); err != nil {
			return out, "", err
		}
		in.Done = false // first its content
	}
	raw, p, err := c.part(ctx, x, fsWrite, in.FileID, in.Target, in)
	if err != nil {
		return out, "", err
	}
	if err := protocol.Unmarshal(raw, &out); err != nil {
		return out, "", err
	}
	switch {
	case !p.Done && !p.Collects:
		x.drop(ctx, out.FileID)
		return out, "", errOldMachine
	case !isLast && !out.Done:
		return out, fmt.Sprintf("%d bytes collected", out.Total), nil
	case isLast:
		collected := out
		if err := x.finish(ctx, s.node, lastPart{out.FileID, out.Path, out.SHA256, true}, &out); err != nil {
			return out, "", err
		}
		out.Offset, out.DurationMs = collected.Offset, collected.DurationMs+out.DurationMs
	}
	return out, fmt.Sprintf("%d bytes written", out.Total), nil
}

// finish makes collected content take effect. If it does not, the content is dropped: the caller
// begins again, because it may not know which of its parts arrived.
func (c *call) finish(ctx context.Context, node protocol.NodeID, last lastPart, out any) error {
	err := c.run(ctx, node, fsWrite, last, out)
	if err != nil {
		c.drop(ctx, last.FileID)
		return err
	}
	c.catalog.Commands.remove(last.FileID)
	return nil
}

// drop forgets an open file and drops its parts. The machine drops them later if it cannot be
// reached.
func (c *call) drop(ctx context.Context, id string) {
	s := c.catalog.Commands
	s.mu.Lock()
	x, ok := s.all[id]
	delete(s.all, id)
	s.mu.Unlock()
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	if err := c.catalog.o.Cleanup.DropFile(ctx, x.node, id); err != nil {
		slog.Info("Collected parts could not be dropped", "node", x.node, "err", err)
	}
}

// fetch lets the machine download an address; the gateway does not see the bytes. Unless the caller
// named the checksum before, the content is shown before it takes effect.
func (c *Catalog) fetch(ctx context.Context, x *call, in fileIn) (out fetchOut, message string, err error) {
	node, err := c.resolve(x.principal, in.Target)
	if err != nil {
		return out, "", err
	}
	var raw json.RawMessage
	args := encode(nodeFetch{in.Path, in.URL, in.Headers, in.FetchMaxBytes, in.ExpectedSHA256, in.Mode, in.ExpectedSHA256 == ""})
	if raw, err = x.runRaw(ctx, protocol.NewToolName(node, fsFetch), args); err == nil {
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
		err = x.finish(ctx, node, lastPart{held.FileID, out.Path, out.SHA256, true}, &written)
		out.DurationMs += written.DurationMs
	}
	return out, fmt.Sprintf("Downloaded %d bytes", out.Total), err
}
