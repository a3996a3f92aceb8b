package rpc

import (
	"cmp"
	"context"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/wire"
	"fairlead/gateway/protocol"
	"fairlead/gateway/terminal"
)

func registerTerminals(all methods, t *terminal.Terminals) {
	handle(all, protocol.TerminalList, plain(t.List))
	handle(all, protocol.TerminalClose, withAck(t.Close))
	handle(all, protocol.ReportTerminals, func(ctx context.Context, r *request, p protocol.TerminalReport) (protocol.Ack, error) {
		t.Report(ctx, r.conn.peer().node(), p.Terminals)
		return protocol.Ack{OK: true}, nil
	})
}

// openTerminal answers the first request of a viewer. Only the owner has terminals: an app cannot log
// in here.
func (t *tunnelRequest) openTerminal(ctx context.Context, r protocol.Request) (result any, run func(), err error) {
	var p protocol.TerminalConnectParams
	if err := readParams(r, &p); err != nil {
		return nil, nil, err
	}
	if p.Client.Mode != protocol.ModeClient {
		return nil, nil, protocol.ErrForbidden.With("only a client shows terminals")
	}
	if err := checkID("Client id", p.Client.ID); err != nil {
		return nil, nil, err
	}
	who, err := t.login(ctx, p.Client, p.Auth)
	if err != nil {
		return nil, nil, err
	}
	if who.Kind != auth.KindOwner || !who.Has(protocol.TerminalConnect.Scope) {
		return nil, nil, protocol.ErrForbidden.With("a terminal needs the right to use machines directly, which this device or app does not have")
	}
	terminals := t.server.services.Terminals
	at := protocol.TerminalParams{Node: p.Node, ID: p.ID}
	var info protocol.Terminal
	if p.ID == "" {
		o := terminal.Opening{By: who.String()}
		if p.Open != nil {
			o.TerminalOpen = *p.Open
		}
		info, err = terminals.Open(ctx, p.Node, o)
		at.ID = info.ID
	} else {
		info, err = terminals.Get(at)
	}
	if err != nil {
		return nil, nil, err
	}
	return info, func() {
		frames := wire.NewFrames(t.ws, protocol.MaxTerminalFrame)
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		crash.Go(func() { frames.KeepAlive(ctx) })
		terminals.View(ctx, at, terminal.Viewer{Name: cmp.Or(p.Name, "the owner"), By: who.String(), Watch: p.Watch, Conn: frames})
	}, nil
}
