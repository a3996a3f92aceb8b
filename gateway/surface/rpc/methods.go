package rpc

import (
	"context"
	"fmt"
	"math"
	"time"

	"fairlead/gateway/protocol"
)

// logsLimit is the time in which a node must send its logs. The original system has a constant of
// 20 s too, but only its 60 s take effect.
const logsLimit = 60 * time.Second

func (s *Server) handlers() map[string]handler {
	all := make(map[string]handler)
	ses := func(p *protocol.SessionParams) *protocol.SessionKey { return &p.SessionKey }

	handle(all, protocol.ChatSend, s.chatSend)
	handle(all, protocol.ChatCancel, keyed(s, func(p *protocol.ChatCancelParams) *protocol.SessionKey { return &p.SessionKey }, s.s.Sessions.Cancel))
	handle(all, protocol.SessionsList, plain(s.s.Sessions.List))
	handle(all, protocol.SessionsSearch, plain(s.s.Sessions.Search))
	handle(all, protocol.SessionGet, keyed(s, ses, s.s.Sessions.Get))
	handle(all, protocol.SessionGetStat, keyed(s, ses, s.s.Sessions.Stats))
	handle(all, protocol.SessionPatch, s.patch)
	handle(all, protocol.SessionReset, keyed(s, ses, s.s.Sessions.Reset))
	handle(all, protocol.SessionCompact, keyed(s, func(p *protocol.SessionCompactParams) *protocol.SessionKey { return &p.SessionKey }, s.s.Sessions.Compact))
	handle(all, protocol.SessionUncompact, keyed(s, ses, s.s.Sessions.Uncompact))
	handle(all, protocol.SessionArchives, keyed(s, ses, s.s.Sessions.Archives))
	handle(all, protocol.SessionArchiveRead, keyed(s, func(p *protocol.SessionArchiveReadParams) *protocol.SessionKey { return &p.SessionKey }, s.s.Sessions.ReadArchive))
	handle(all, protocol.SessionArchiveRestore, keyed(s, func(p *protocol.SessionArchiveRestoreParams) *protocol.SessionKey { return &p.SessionKey }, s.s.Sessions.RestoreArchive))
	handle(all, protocol.SessionHistory, keyed(s, ses, s.s.Sessions.History))
	handle(all, protocol.SessionPreview, keyed(s, func(p *protocol.SessionPreviewParams) *protocol.SessionKey { return &p.SessionKey }, s.s.Sessions.Preview))
	handle(all, protocol.SessionCreate, s.createSession)
	handle(all, protocol.SessionDelete, keyed(s, ses, s.s.Sessions.Delete))
	handle(all, protocol.SessionRestore, keyed(s, ses, s.s.Sessions.Restore))
	handle(all, protocol.MediaGet, plain(s.s.Sessions.Media))

	handle(all, protocol.ToolsList, func(context.Context, *Conn, protocol.Empty) (protocol.ToolsListResult, error) {
		return protocol.ToolsListResult{Tools: list(s.s.Registry.Tools())}, nil
	})
	handle(all, protocol.InvokeTool, s.invoke)
	handle(all, protocol.RequestTool, s.request)
	handle(all, protocol.CallCancel, func(_ context.Context, _ *Conn, p protocol.CallCancelParams) (protocol.Ack, error) {
		return protocol.Ack{OK: true, Dropped: !s.s.Tools.Cancel(p.CallID)}, nil
	})
	handle(all, protocol.ReturnResult, s.result)
	handle(all, protocol.ReportProgress, func(_ context.Context, c *Conn, p protocol.ToolProgress) (protocol.Ack, error) {
		return s.s.Nodes.Progress(c.node(), p)
	})
	handle(all, protocol.ReportExec, func(ctx context.Context, c *Conn, p protocol.NodeExecEvent) (protocol.Ack, error) {
		return s.s.ExecEvent(ctx, c.node(), p)
	})
	handle(all, protocol.GetLogs, s.logs)
	handle(all, protocol.ReturnLogs, func(_ context.Context, c *Conn, p protocol.LogsResultParams) (protocol.Ack, error) {
		return s.s.Nodes.LogsResult(c.node(), p)
	})
	handle(all, protocol.NodesList, func(context.Context, *Conn, protocol.Empty) (protocol.NodesListResult, error) {
		return protocol.NodesListResult{Nodes: list(s.s.Nodes.Nodes())}, nil
	})
	s.devices(all)

	handle(all, protocol.JournalList, s.journalList)
	s.rules(all)
	handle(all, protocol.WorkspaceList, s.listFiles)
	handle(all, protocol.WorkspaceRead, s.readFile)
	handle(all, protocol.WorkspaceWrite, s.writeFile)
	handle(all, protocol.WorkspaceDelete, s.deleteFile)
	handle(all, protocol.ConfigGet, s.configGet)
	handle(all, protocol.ConfigSet, s.configSet)
	handle(all, protocol.ConfigSchema, func(context.Context, *Conn, protocol.Empty) (protocol.ConfigSchemaResult, error) {
		return protocol.ConfigSchemaResult{Fields: list(s.s.Config.Schema())}, nil
	})
	s.questions(all)
	handle(all, protocol.StatusGet, func(ctx context.Context, _ *Conn, _ protocol.Empty) (protocol.Status, error) {
		return s.s.Status(ctx), nil
	})
	handle(all, protocol.AgentPause, func(ctx context.Context, _ *Conn, p protocol.PauseParams) (protocol.Status, error) {
		return s.s.Pause(ctx, p.Paused)
	})
	handle(all, protocol.FeedSubscribe, s.subscribe)
	s.schedules(all)
	s.skills(all)
	s.transfers(all)
	s.channels(all)
	s.browse(all)

	handle(all, protocol.ModelProviders, func(context.Context, *Conn, protocol.Empty) (protocol.ProvidersResult, error) {
		return protocol.ProvidersResult{Providers: list(s.s.Models.Providers())}, nil
	})
	handle(all, protocol.ModelsList, func(ctx context.Context, _ *Conn, p protocol.ModelsListParams) (protocol.ModelsListResult, error) {
		if p.Provider == "" {
			return protocol.ModelsListResult{}, protocol.ErrBadRequest.With("provider required")
		}
		models, err := s.s.Models.Models(ctx, p.Provider)
		return protocol.ModelsListResult{Models: list(models)}, err
	})
	handle(all, protocol.ModelsTest, func(ctx context.Context, _ *Conn, p protocol.ModelsTestParams) (protocol.ModelsTestResult, error) {
		return s.s.Models.Test(ctx, p.Provider, p.Model), nil
	})
	handle(all, protocol.ModelsDetect, func(ctx context.Context, _ *Conn, _ protocol.Empty) (protocol.ModelsDetectResult, error) {
		return protocol.ModelsDetectResult{Servers: list(s.s.Models.Detect(ctx))}, nil
	})
	return all
}

func (s *Server) chatSend(ctx context.Context, c *Conn, p protocol.ChatSendParams) (protocol.ChatSendResult, error) {
	if p.SessionKey == "" || p.Message == "" && len(p.Attachments) == 0 {
		return protocol.ChatSendResult{}, protocol.ErrBadRequest.With("sessionKey and message required")
	}
	if err := checkKey(p.SessionKey); err != nil {
		return protocol.ChatSendResult{}, err
	}
	if err := checkID("runId", string(p.RunID)); err != nil {
		return protocol.ChatSendResult{}, err
	}
	p.SessionKey = c.spell(p.SessionKey)
	p.Remind = !c.subscribed()
	return s.s.Sessions.Send(ctx, c.who(), p)
}

// logs asks a node for log lines (docs/protocol.md#logs), with the original system's rules for
// lines and target.
func (s *Server) logs(ctx context.Context, _ *Conn, p protocol.LogsGetParams) (protocol.LogsGetResult, error) {
	lines := protocol.DefaultLogLines
	if p.Lines != nil {
		if math.IsNaN(*p.Lines) || *p.Lines < 1 {
			return protocol.LogsGetResult{}, protocol.ErrBadRequest.With("lines must be a positive number")
		}
		lines = int(min(math.Floor(*p.Lines), protocol.MaxLogLines))
	}
	id, err := s.s.Nodes.Pick(p.NodeID)
	if err != nil {
		return protocol.LogsGetResult{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, logsLimit, protocol.ErrTimeout.With(fmt.Sprintf("logs.get timed out after %dms", logsLimit.Milliseconds())))
	defer cancel()
	return s.s.Nodes.Logs(ctx, id, lines)
}

func (s *Server) configGet(_ context.Context, _ *Conn, p protocol.ConfigGetParams) (protocol.ConfigGetResult, error) {
	if p.Path == "" {
		all, err := s.s.Config.All()
		return protocol.ConfigGetResult{Config: all}, err
	}
	value, _, err := s.s.Config.Read(p.Path)
	return protocol.ConfigGetResult{Path: p.Path, Value: value}, err
}

func (s *Server) configSet(ctx context.Context, c *Conn, p protocol.ConfigSetParams) (protocol.ConfigSetResult, error) {
	if p.Path == "" {
		return protocol.ConfigSetResult{}, protocol.ErrBadRequest.With("path required")
	}
	// the token gives the owner's rights without expiry
	if (p.Path == "auth" || p.Path == "auth.token") && c.who().Device != "" {
		return protocol.ConfigSetResult{}, protocol.ErrForbidden.With("the gateway's own token is chosen at the gateway, and by no paired device")
	}
	if err := s.s.Config.Set(ctx, p.Path, p.Value); err != nil {
		return protocol.ConfigSetResult{}, err
	}
	return protocol.ConfigSetResult{OK: true, Path: p.Path}, nil
}
