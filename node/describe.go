package node

import (
	"context"
	"encoding/json"
	"path/filepath"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/floor"
)

// describe previews a call. Of a file tool, it says whether the file starts programs later, if only
// this machine knows that.
func describe(ctx context.Context, t toolkit.Tool[access.Call], args json.RawMessage) (p protocol.CallPreview, ok bool, err error) {
	p, ok, err = t.Preview(ctx, access.Call{}, args)
	if err == nil && t.Spec.Effect == protocol.EffectWrite && p.Path != "" && floor.StartsPrograms(filepath.FromSlash(p.Path)) {
		p.Changes = append(p.Changes, p.Path)
	}
	return p, ok, err
}
