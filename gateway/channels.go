package gateway

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"

	"fairlead/gateway/channel"
	"fairlead/gateway/channel/xmpp"
	"fairlead/gateway/cron"
	"fairlead/gateway/native"
	"fairlead/gateway/protocol"
	"fairlead/gateway/session"
)

// drivers returns the chat networks that the gateway can connect to by itself.
func drivers() []channel.Driver { return []channel.Driver{xmpp.Driver{}} }

// route returns the chat for a message from a channel.
func (g *Gateway) route(channel, account, kind, id string) (protocol.AgentID, protocol.SessionKey) {
	return g.sessions.Route(session.Peer{Channel: channel, Account: account, Kind: kind, ID: id})
}

// message implements gsv__Message.
func (g *Gateway) message(ctx context.Context, from protocol.SessionKey, in native.MessageIn) (any, error) {
	files, err := g.attached(native.AgentOf(ctx), in.Files)
	if err != nil {
		return nil, err
	}
	return g.channels.Say(ctx, from, channel.Words{
		Text: in.Text, Channel: in.Channel, AccountID: in.AccountID, To: in.To, Kind: in.PeerKind, ReplyTo: in.ReplyToID, Files: files,
	})
}

// Limits of the files of one message.
const (
	maxAttached      = 4
	maxAttachedBytes = 10 << 20
)

// attached reads the files that an agent sends.
func (g *Gateway) attached(agent protocol.AgentID, paths []string) (list []protocol.Media, err error) {
	if len(paths) > maxAttached {
		return nil, protocol.ErrTooLarge.With(fmt.Sprintf("a message may have %d files", maxAttached))
	}
	total := 0
	for _, name := range paths {
		f, _, err := g.files.Read(agent, name)
		switch {
		case err != nil:
			return nil, err
		case f == nil:
			return nil, protocol.ErrBadRequest.With(name + " is a folder")
		}
		if total += len(f.Data); total > maxAttachedBytes {
			return nil, protocol.ErrTooLarge.With(fmt.Sprintf("the files of a message may have %d MB together", maxAttachedBytes>>20))
		}
		m := protocol.Media{Type: "document", Filename: path.Base(f.Path), Size: int64(len(f.Data)), Data: base64.StdEncoding.EncodeToString(f.Data)}
		m.MimeType, _, _ = strings.Cut(cmp.Or(mime.TypeByExtension(path.Ext(f.Path)), http.DetectContentType(f.Data)), ";")
		for _, kind := range []string{"image", "audio", "video"} {
			if strings.HasPrefix(m.MimeType, kind+"/") {
				m.Type = kind
			}
		}
		list = append(list, m)
	}
	return list, nil
}

// deliver sends a job's answer to the person: to the channel or receiver in the job, or else to the
// main chat and to its last address on a channel.
func (g *Gateway) deliver(ctx context.Context, d cron.Delivery) (string, error) {
	home := g.config.Get().Session.Main(d.Agent)
	if d.Channel != "" || d.To != "" {
		said, err := g.channels.Say(ctx, home, channel.Words{Text: d.Text, Channel: d.Channel, To: d.To, Later: true})
		return where(said), err
	}
	if d.Seen {
		said, err := g.channels.Say(ctx, home, channel.Words{Text: d.Text, Later: true})
		// nobody writes to the agent over a channel
		if errors.Is(err, protocol.ErrBadRequest) || err != nil && ctx.Err() != nil {
			return "", ctx.Err()
		}
		return where(said), err
	}
	chat, err := cron.ToMain(ctx, g.store, g.bus, home, d)
	if err != nil {
		return chat, err
	}
	if said, err := g.channels.Say(ctx, home, channel.Words{Text: d.Text, Later: true}); err == nil {
		chat += " and " + where(said)
	}
	return chat, nil
}

// where describes the receiver of a message.
func where(s channel.Said) string {
	text := s.To + " on " + s.Channel
	if s.Queued {
		text += ", as soon as it is connected"
	}
	return text
}

// heartbeatFile returns an agent's HEARTBEAT.md.
func (g *Gateway) heartbeatFile(agent protocol.AgentID) (string, error) {
	f, _, err := g.files.Read(agent, "HEARTBEAT.md")
	switch {
	case errors.Is(err, protocol.ErrNotFound), err == nil && f == nil:
		return "", fs.ErrNotExist
	case err != nil:
		return "", err
	}
	return string(f.Data), nil
}

func (g *Gateway) lastActive(agent protocol.AgentID) *protocol.LastActive {
	return g.channels.LastActive(context.Background(), agent)
}
