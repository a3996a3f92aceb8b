package rpc

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"fairlead/gateway/nodes"
	"fairlead/gateway/protocol"
	"fairlead/gateway/workspace"
)

// settingMethods are the methods for the configuration and for the models that it can name.
type settingMethods struct {
	config Config
	models Models
	local  LocalModels
	nodes  *nodes.Hub
}

func (s settingMethods) register(all methods) {
	handle(all, protocol.ConfigGet, func(_ context.Context, _ *request, p protocol.ConfigGetParams) (protocol.ConfigGetResult, error) {
		if p.Path == "" {
			all, err := s.config.All()
			return protocol.ConfigGetResult{Config: all}, err
		}
		value, err := s.config.Read(p.Path)
		return protocol.ConfigGetResult{Path: p.Path, Value: value}, err
	})
	handle(all, protocol.ConfigSet, func(ctx context.Context, r *request, p protocol.ConfigSetParams) (protocol.ConfigSetResult, error) {
		if err := require("path required", p.Path); err != nil {
			return protocol.ConfigSetResult{}, err
		}
		// the token gives the owner's rights without expiry
		if (p.Path == "auth" || p.Path == "auth.token") && r.conn.peer().principal.Device != "" {
			return protocol.ConfigSetResult{}, protocol.ErrForbidden.With("the gateway's own token is chosen at the gateway, and by no paired device")
		}
		if err := cmp.Or(s.checkReserve(ctx, p), checkDefault(p, s.nodes.Nodes)); err != nil {
			return protocol.ConfigSetResult{}, err
		}
		err := s.config.Set(ctx, p.Path, p.Value)
		return protocol.ConfigSetResult{OK: true, Path: p.Path}, err
	})
	handle(all, protocol.ConfigSchema, query(func(context.Context) (protocol.ConfigSchemaResult, error) {
		return protocol.ConfigSchemaResult{Fields: list(s.config.Schema())}, nil
	}))
	handle(all, protocol.ModelProviders, query(func(context.Context) (protocol.ProvidersResult, error) {
		return protocol.ProvidersResult{Providers: list(s.models.Providers())}, nil
	}))
	handle(all, protocol.ModelsList, plain(func(ctx context.Context, p protocol.ModelsListParams) (protocol.ModelsListResult, error) {
		models, err := s.models.Models(ctx, p.Provider)
		return protocol.ModelsListResult{Models: list(models)}, err
	}).requires("provider", func(p protocol.ModelsListParams) string { return p.Provider }))
	handle(all, protocol.ModelsTest, plain(func(ctx context.Context, p protocol.ModelsTestParams) (protocol.ModelsTestResult, error) {
		return s.models.Test(ctx, p.Provider, p.Model), nil
	}))
	handle(all, protocol.ModelsDetect, query(func(ctx context.Context) (protocol.ModelsDetectResult, error) {
		return protocol.ModelsDetectResult{Servers: list(s.models.Detect(ctx))}, nil
	}))
	handle(all, protocol.ModelsLocal, query(func(ctx context.Context) (protocol.LocalModelsResult, error) {
		return s.local.List(ctx), nil
	}))
	handle(all, protocol.ModelsPull, plain(func(_ context.Context, p protocol.ModelPullParams) (protocol.OK, error) {
		return protocol.OK{OK: true}, s.local.Pull(p.Provider, p.Model)
	}).requires("model", func(p protocol.ModelPullParams) string { return p.Model }))
	handle(all, protocol.ModelsPullStop, plain(func(ctx context.Context, p protocol.ModelPullParams) (protocol.OK, error) {
		return protocol.OK{OK: true}, s.local.StopPull(ctx, p.Model, p.Discard)
	}).requires("model", func(p protocol.ModelPullParams) string { return p.Model }))
}

// checkReserve refuses a reserve that leaves the chosen model no room.
func (s settingMethods) checkReserve(ctx context.Context, p protocol.ConfigSetParams) error {
	var all struct{ ReserveTokens int64 }
	switch p.Path {
	case "compaction.reserveTokens":
		json.Unmarshal(p.Value, &all.ReserveTokens) // another value is refused by its type
	case "compaction":
		json.Unmarshal(p.Value, &all)
	}
	if all.ReserveTokens == 0 {
		return nil
	}
	raw, err := s.config.Read("model")
	if err != nil {
		return err
	}
	var ref protocol.ModelRef
	if json.Unmarshal(raw, &ref) != nil {
		return nil
	}
	return s.models.CheckReserve(ctx, ref, all.ReserveTokens)
}

// checkDefault refuses to allow calls by default where no machine protects start-up files from
// commands.
func checkDefault(p protocol.ConfigSetParams, nodes func() []protocol.NodeInfo) error {
	var all struct{ DefaultDecision string }
	switch p.Path {
	case "toolApproval.defaultDecision":
		json.Unmarshal(p.Value, &all.DefaultDecision) // another value is refused by its type
	case "toolApproval":
		json.Unmarshal(p.Value, &all)
	}
	if all.DefaultDecision != "allow" {
		return nil
	}
	return protocol.CheckProtected("allow as the default", nodes())
}

func registerWorkspaces(all methods, files *workspace.Files) {
	handle(all, protocol.WorkspaceList, plain(func(_ context.Context, p protocol.WorkspaceListParams) (protocol.WorkspaceListResult, error) {
		l, err := files.List(p.AgentID, p.Path)
		return protocol.WorkspaceListResult(l), err
	}))
	handle(all, protocol.WorkspaceRead, plain(func(_ context.Context, p protocol.WorkspaceReadParams) (any, error) {
		return readWorkspace(files, p)
	}))
	handle(all, protocol.WorkspaceWrite, plain(func(_ context.Context, p protocol.WorkspaceWriteParams) (protocol.WorkspaceWriteResult, error) {
		return writeWorkspace(files, p)
	}))
	handle(all, protocol.WorkspaceDelete, plain(func(_ context.Context, p protocol.WorkspaceDeleteParams) (protocol.WorkspaceDeleteResult, error) {
		path, err := files.Delete(p.AgentID, p.Path)
		return protocol.WorkspaceDeleteResult{Path: path, Deleted: err == nil}, err
	}).requires("path", func(p protocol.WorkspaceDeleteParams) string { return p.Path }))
}

// readWorkspace reads a file. For a folder it returns the listing, as GSV does.
func readWorkspace(files *workspace.Files, p protocol.WorkspaceReadParams) (any, error) {
	if err := cmp.Or(require("path required", p.Path), checkEncoding(p.Encoding)); err != nil {
		return nil, err
	}
	var f *workspace.File
	var folder *workspace.Listing
	var err error
	if p.Default {
		f, err = workspace.Default(p.Path)
	} else {
		f, folder, err = files.Read(p.AgentID, p.Path)
	}
	switch {
	case err != nil:
		return nil, err
	case folder != nil:
		return protocol.WorkspaceListResult(*folder), nil
	}
	out := protocol.WorkspaceReadResult{
		Path: f.Path, Size: len(f.Data), LastModified: f.Modified.UTC().Format(time.RFC3339Nano),
		ResolvedPath: f.ResolvedPath, ResolvedSource: f.ResolvedSource, Encoding: p.Encoding,
	}
	if p.Encoding == protocol.EncodingBase64 {
		out.Content = base64.StdEncoding.EncodeToString(f.Data)
		return out, nil
	}
	out.Content, err = f.Text()
	return out, err
}

// checkEncoding refuses an unknown encoding, such as a misspelled one, so that the file does not
// get wrong contents.
func checkEncoding(name string) error {
	if name != "" && name != protocol.EncodingBase64 {
		return protocol.ErrBadRequest.With(fmt.Sprintf("encoding must be %s, or left out for text, not %q", protocol.EncodingBase64, name))
	}
	return nil
}

func writeWorkspace(files *workspace.Files, p protocol.WorkspaceWriteParams) (protocol.WorkspaceWriteResult, error) {
	if p.Path == "" || p.Content == nil {
		return protocol.WorkspaceWriteResult{}, protocol.ErrBadRequest.With("path and content required")
	}
	if err := checkEncoding(p.Encoding); err != nil {
		return protocol.WorkspaceWriteResult{}, err
	}
	data := []byte(*p.Content)
	if p.Encoding == protocol.EncodingBase64 {
		var err error
		if data, err = base64.StdEncoding.DecodeString(*p.Content); err != nil {
			return protocol.WorkspaceWriteResult{}, protocol.ErrBadRequest.With(fmt.Sprintf("content is not base64: %v", err))
		}
	}
	path, err := files.Write(p.AgentID, p.Path, data)
	return protocol.WorkspaceWriteResult{Path: path, Size: len(data), Written: err == nil}, err
}
