package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// notInBatch are the operations that a batch cannot have.
var notInBatch = []operation{opRead, opBatch, ""}

// opSchema is the schema of an operation of a batch.
var opSchema = mustJSON(inputSchema[fileIn]())

// readOp reads the arguments of an operation of a batch for a target like those of a call of their
// own.
func readOp(raw json.RawMessage, t *Target) (in fileIn, err error) {
	args, err := toolkit.Arguments(opSchema, raw)
	if err != nil {
		json.Unmarshal(raw, &in) // as much as possible, for the result
		return in, protocol.NewFault(protocol.FaultInvalidArgs, toolkit.Brief(err.Error()))
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return in, err
	}
	switch {
	case slices.Contains(notInBatch, in.Op):
		return in, protocol.NewFault(protocol.FaultInvalidArgs, fmt.Sprintf("a batch cannot have the operation %q", in.Op))
	case in.Target != nil || in.FileID != "":
		return in, protocol.NewFault(protocol.FaultInvalidArgs, "the operations of a batch have no target and no file_id")
	}
	in.Target, in.Done = t, in.Done || in.Op == opWrite
	return in, nil
}

// change returns the machine's tool and the arguments with which an operation changes files; ok is
// false for the others.
func (in fileIn) change() (name string, args json.RawMessage, ok bool) {
	switch in.Op {
	case opWrite:
		return fsWrite, withoutTarget(in.write()), true
	case opEdit, opMultiEdit:
		args, err := in.edit().forNode()
		return "Edit", protocol.Encode(args), err == nil
	case opDelete:
		return fsDelete, withoutTarget(in.remove()), true
	case opMkdir:
		return fsMkdir, withoutTarget(in.mkdir()), true
	case opFetch:
		return fsFetch, protocol.Encode(in.fetch()), true
	}
	return "", nil, false
}

// batch runs operations one after the other, after one question about all that change files. One
// that fails does not stop the others.
func (f files) batch(ctx context.Context, x *call, in fileIn) (out fileOut, message string, err error) {
	began := time.Now()
	if len(in.Ops) == 0 || len(in.Ops) > maxBatch {
		return out, "", protocol.NewFault(protocol.FaultInvalidArgs, fmt.Sprintf("ops must have 1 to %d operations", maxBatch))
	}
	node, err := f.net.resolve(x.principal, in.Target)
	if err != nil {
		return out, "", err
	}
	if x.plan, err = f.plan(ctx, x, node, in); err != nil {
		return out, "", err
	}
	failed := 0
	for _, raw := range in.Ops {
		if err := ctx.Err(); err != nil {
			return out, "", err
		}
		op, err := readOp(raw, in.Target)
		r := batchResult{Op: string(op.Op)}
		if err == nil {
			var done fileOut
			if done, _, err = f.file(ctx, x, op); err == nil {
				r.OK, r.Data = true, protocol.Encode(done)
			}
		}
		if err != nil {
			failed++
			r.Error, _ = errors.AsType[*protocol.Fault](tool.FaultOf(err))
		}
		out.BatchResults = append(out.BatchResults, r)
	}
	out.DurationMs = milliseconds(began)
	return out, fmt.Sprintf("%d of %d operations succeeded", len(in.Ops)-failed, len(in.Ops)), nil
}

// plan asks the person about all operations of a batch that change files.
func (f files) plan(ctx context.Context, x *call, node protocol.NodeID, in fileIn) (*tool.Plan, error) {
	var calls []tool.Call
	for _, raw := range in.Ops {
		op, err := readOp(raw, in.Target)
		if err != nil {
			continue // its result says so
		}
		if name, args, ok := op.change(); ok {
			calls = append(calls, x.callOf(protocol.NewToolName(node, name), args))
		}
	}
	if len(calls) < 2 {
		return nil, nil
	}
	x.job.SetMachine(node)
	return x.pipeline.Plan(ctx, calls)
}
