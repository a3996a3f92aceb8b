package tools

import (
	"context"
	"errors"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/tool"
	"fairlead/node/workspace"
)

type writeIn struct {
	Path    string `json:"path" jsonschema:"file to write; relative to the workspace"`
	Content string `json:"content" jsonschema:"the whole new content"`
}

type writeOut struct {
	Path  string `json:"path"`
	Bytes int    `json:"bytes"`
}

func writeTool(ws *workspace.Root) tool.Tool {
	t := tool.Define("Write", doc("write"), tool.Traits{Effect: protocol.EffectWrite, Caps: []string{protocol.CapWrite}},
		func(ctx context.Context, in writeIn) (writeOut, error) { return runWrite(ctx, ws, in) })
	return tool.WithPreview(t, func(_ context.Context, in writeIn) (protocol.CallPreview, error) { return previewWrite(ws, in), nil })
}

func runWrite(ctx context.Context, ws *workspace.Root, in writeIn) (writeOut, error) {
	p, err := resolveFile(ws, in.Path)
	if err != nil {
		return writeOut{}, err
	}
	unlock, err := ws.Lock(ctx, p)
	if err != nil {
		return writeOut{}, err
	}
	defer unlock()
	if _, err := ws.Write(p, []byte(in.Content), expectOf(ctx)); err != nil {
		return writeOut{}, writeError(p, err)
	}
	return writeOut{Path: p.Abs, Bytes: len(in.Content)}, nil
}

// writeError words why a file could not be written.
func writeError(p workspace.Path, err error) error {
	var outside *workspace.OutsideError
	var dir *workspace.DirError
	switch {
	case errors.As(err, &outside), errors.Is(err, workspace.ErrChanged):
		return err
	case errors.As(err, &dir):
		return failf("Failed to create directories: %w", err)
	}
	return failf("Failed to write '%s': %w", p.Abs, unwrapPath(err))
}
