package file

import (
	"context"

	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/workspace"
)

func (f files) previewWrite(in writeIn) protocol.CallPreview {
	preview, old, p := f.previewFile(in.Path, in.ExpectedSHA256)
	if preview.Problem != "" {
		return preview
	}
	if err := f.checkContent(p, in); err != nil {
		access.SetProblem(&preview, err)
		return preview
	}
	access.AddDiff(&preview, f.ws, p, old, []byte(in.Content))
	return preview
}

func (f files) previewEdit(ctx context.Context, in editIn) protocol.CallPreview {
	preview, old, p := f.previewFile(in.Path, in.ExpectedSHA256)
	switch {
	case preview.Problem != "":
		return preview
	case preview.NewFile:
		access.SetProblem(&preview, notFound(p))
		return preview
	case preview.Truncated:
		access.SetProblem(&preview, protocol.NewFault(protocol.FaultTooLarge, "File too large for Edit. Replace it with Write, or change it with a command."))
		return preview
	}
	data, _, err := f.applyEdits(ctx, p, old, in)
	if err != nil {
		access.SetProblem(&preview, err)
		return preview
	}
	access.AddDiff(&preview, f.ws, p, old, data)
	return preview
}

func (f files) previewFile(path, want string) (preview protocol.CallPreview, old []byte, p workspace.Path) {
	p, err := resolveFile(f.ws, path)
	if err != nil {
		preview.Path, preview.Outside = p.String(), p.Outside
		access.SetProblem(&preview, err)
		return preview, nil, p
	}
	preview, old = access.PreviewWrite(f.ws, p, want, int64(f.limits.edit))
	return preview, old, p
}
