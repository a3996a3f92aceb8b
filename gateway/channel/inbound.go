package channel

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Bounds of what comes in.
const (
	maxText  = 64 << 10 // bytes of a message's text; more is cut, and the cut is said
	maxQuote = 500      // runes of a message that is answered
	maxMedia = 16       // files of one message
	maxFile  = 10 << 20 // bytes of one of them
	burst    = 20       // messages one sender may write in perMinute
)

const perMinute = time.Minute

// limit counts a sender's messages.
type limit struct {
	since time.Time
	n     int
}

// Inbound takes a message that somebody wrote on a channel (seed 004, channel.inbound): it checks who that is, finds the chat, and gives it to
// the agent there. It is text for the agent, whatever it says.
func (h *Hub) Inbound(ctx context.Context, in protocol.ChannelInboundParams) (protocol.ChannelInboundResult, error) {
	var res protocol.ChannelInboundResult
	name, err := channelName(in.Channel)
	if err != nil {
		return res, err
	}
	account := accountID(in.AccountID)
	if err := checkInbound(in); err != nil {
		return res, err
	}
	in.Channel, in.AccountID = name, account
	sender := in.Peer.ID
	if in.Sender != nil && in.Sender.ID != "" {
		sender = in.Sender.ID
	}
	if in.Peer.Kind != protocol.PeerDM && in.WasMentioned != nil && !*in.WasMentioned {
		return protocol.ChannelInboundResult{Status: protocol.InboundIgnored, Reason: "the agent was not mentioned"}, nil
	}
	if !h.within(name, sender) {
		return protocol.ChannelInboundResult{Status: protocol.InboundBlocked, Reason: "too many messages in a minute"}, nil
	}
	cfg := h.o.Config()
	verdict, err := h.check(ctx, cfg.Channels[name], in, sender)
	if err != nil || verdict != nil {
		return deref(verdict), err
	}
	who := sender
	if in.Peer.Kind != protocol.PeerDM {
		who = in.Peer.ID
	}
	agent, chat := h.route(name, account, in.Peer.Kind, who)
	h.saw(ctx, name, account)
	run := runID(name, account, in)
	if _, err := h.o.Store.Run(ctx, run); err == nil {
		return protocol.ChannelInboundResult{Status: protocol.InboundDuplicate, SessionKey: chat, RunID: run}, nil
	} else if !errors.Is(err, protocol.ErrNotFound) {
		return res, err
	}
	route := store.Route{Channel: name, AccountID: account, Peer: in.Peer}
	if in.Peer.Kind != protocol.PeerDM {
		route.ReplyToID = in.Message.ID
	}
	writer := auth.Writer(name, sender)
	if owns(cfg.Channels[name], in, sender) {
		writer = auth.Writing(name, sender)
		if res, ok, err := h.command(ctx, writer, chat, route, run, in); ok || err != nil {
			return res, err
		}
	}
	text, images := h.compose(cfg, agent, in, h.fetch(ctx, &in))
	f := &following{ChannelRun: store.ChannelRun{Run: run, Session: chat, Route: route}}
	if err := h.o.Store.StartChannelRun(ctx, f.ChannelRun, now()); err != nil {
		return res, err
	}
	h.mu.Lock()
	h.runs[run] = f
	h.mu.Unlock()
	sent, err := h.sessions.Send(ctx, writer, protocol.ChatSendParams{SessionKey: chat, Message: text, RunID: run, Attachments: images})
	if errors.Is(err, protocol.ErrConflict) {
		return protocol.ChannelInboundResult{Status: protocol.InboundDuplicate, SessionKey: chat, RunID: run}, nil
	}
	if err != nil {
		h.forget(ctx, run)
		return res, err
	}
	h.label(ctx, chat, in)
	return protocol.ChannelInboundResult{Status: sent.Status, SessionKey: chat, RunID: sent.RunID, Directives: sent.Directives}, nil
}

func deref(r *protocol.ChannelInboundResult) protocol.ChannelInboundResult {
	if r == nil {
		return protocol.ChannelInboundResult{}
	}
	return *r
}

func outboundTo(r store.Route, chat protocol.SessionKey, text string) protocol.ChannelOutbound {
	return protocol.ChannelOutbound{
		Channel: r.Channel, AccountID: r.AccountID, Peer: r.Peer, SessionKey: chat,
		Message: protocol.OutboundMessage{Text: text, ReplyToID: r.ReplyToID},
	}
}

func checkInbound(in protocol.ChannelInboundParams) error {
	kinds := []string{protocol.PeerDM, protocol.PeerGroup, protocol.PeerChannel, protocol.PeerThread}
	m := in.Message
	switch {
	case in.AccountID == "":
		return protocol.ErrBadRequest.With("accountId required")
	case in.Peer.ID == "" || in.Peer.Kind == "":
		return protocol.ErrBadRequest.With("peer.kind and peer.id required")
	case !slices.Contains(kinds, in.Peer.Kind):
		return protocol.ErrBadRequest.With(fmt.Sprintf("peer.kind must be one of %s, not %q", strings.Join(kinds, ", "), clip(in.Peer.Kind, 40)))
	case strings.TrimSpace(m.Text) == "" && len(m.Media) == 0 && m.Location == nil:
		return protocol.ErrBadRequest.With("message required: text, media or location")
	case len(in.Peer.ID) > 512 || in.Sender != nil && len(in.Sender.ID) > 512 || len(m.ID) > 512:
		return protocol.ErrBadRequest.With("an id is longer than 512 bytes")
	case len(m.Media) > maxMedia:
		return protocol.ErrTooLarge.With(fmt.Sprintf("a message may bring %d files", maxMedia))
	}
	return nil
}

// within counts a sender's message, and reports whether there were not too many lately.
func (h *Hub) within(channel, sender string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	k, at := key(channel, sender), time.Now()
	l := h.limits[k]
	if l == nil || at.Sub(l.since) > perMinute {
		if len(h.limits) > 10_000 {
			for old, x := range h.limits {
				if at.Sub(x.since) > perMinute {
					delete(h.limits, old)
				}
			}
		}
		l = &limit{since: at}
		h.limits[k] = l
	}
	l.n++
	return l.n <= burst
}

// saw notes that an account brought a message.
func (h *Hub) saw(ctx context.Context, channel, account string) {
	at := now()
	h.mu.Lock()
	if a := h.accounts[key(channel, account)]; a != nil {
		a.lastMessage = at
	}
	h.mu.Unlock()
	if err := h.o.Store.SawChannel(ctx, channel, account, at); err != nil {
		slog.Warn("A channel's last message was not noted", "channel", channel, "account", account, "err", err)
	}
}

// label names a new chat after whom it is with.
func (h *Hub) label(ctx context.Context, chat protocol.SessionKey, in protocol.ChannelInboundParams) {
	name := strings.Join(strings.Fields(in.Peer.Name), " ")
	if name == "" || !strings.Contains(string(chat), ":"+in.Channel+":") {
		return
	}
	s, err := h.sessions.Get(ctx, protocol.SessionParams{SessionKey: chat})
	if err != nil || s.Label != "" {
		return
	}
	name = clip(name, 80) + " (" + in.Channel + ")"
	if _, err := h.sessions.Patch(ctx, protocol.SessionPatchParams{SessionKey: chat, Label: &name}); err != nil {
		slog.Warn("A chat was not named", "session", chat, "err", err)
	}
}

// compose makes the text for the agent: an envelope that says when, where and by whom, what was written, and what came with it (gsv interop
// notes 10.1, which leave the reply, the place and the message's own time out). why has the reasons for which files did not come, by their place.
func (h *Hub) compose(cfg config.Config, agent protocol.AgentID, in protocol.ChannelInboundParams, why map[int]string) (string, []protocol.Attachment) {
	m := in.Message
	at := time.Now()
	if sent := time.UnixMilli(m.Timestamp); m.Timestamp > 0 && sent.Before(at.Add(5*time.Minute)) {
		at = sent
	}
	zone, err := time.LoadLocation(cfg.UserTimezone)
	if err != nil {
		zone = time.UTC
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[%s · %s", in.Channel, at.In(zone).Format("3:04 PM MST"))
	if in.Peer.Kind != protocol.PeerDM {
		who := in.Peer.ID
		if s := in.Sender; s != nil {
			who = cmp.Or(s.Name, s.Handle, s.ID, who)
		}
		fmt.Fprintf(&b, " · %s", inBrackets(who))
	}
	b.WriteString("]")
	if m.ReplyToText != "" {
		fmt.Fprintf(&b, "\n[in reply to: %s]", inBrackets(clip(m.ReplyToText, maxQuote)))
	}
	if text := strings.TrimSpace(m.Text); text != "" {
		if len(text) > maxText {
			text = strings.ToValidUTF8(text[:maxText], "") + fmt.Sprintf("\n[the message is longer; %d bytes are left out]", len(text)-maxText)
		}
		sep := " "
		if m.ReplyToText != "" {
			sep = "\n"
		}
		b.WriteString(sep + text)
	}
	if l := m.Location; l != nil {
		fmt.Fprintf(&b, "\n[location: %.6f, %.6f", l.Lat, l.Lon)
		if l.Name != "" {
			fmt.Fprintf(&b, ", %s", inBrackets(clip(l.Name, 200)))
		}
		b.WriteString("]")
	}
	var images []protocol.Attachment
	for i, f := range m.Media {
		line, image := h.media(agent, f, why[i])
		if image != nil {
			images = append(images, *image)
		}
		b.WriteString("\n" + line)
	}
	return b.String(), images
}

// quotedSetting is what would set something for the message, were it not part of what somebody else wrote.
var quotedSetting = regexp.MustCompile(`((?:^|\s)/)(\w+:)`)

// inBrackets makes a text that somebody chose fit into one line between brackets, where it sets nothing.
func inBrackets(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	s = quotedSetting.ReplaceAllString(s, "$1 $2")
	return strings.NewReplacer("[", "(", "]", ")").Replace(s)
}

var fileName = regexp.MustCompile(`[^A-Za-z0-9._ -]+`)

// media says what a file is, gives images to the model, and keeps any other file in the agent's workspace. What is only named by an address
// was not fetched, because the address is somebody else's choice, or for the reason why.
func (h *Hub) media(agent protocol.AgentID, f protocol.Media, why string) (line string, image *protocol.Attachment) {
	kind := f.Type
	if !slices.Contains([]string{"image", "audio", "video", "document"}, kind) {
		kind = "document"
	}
	what := kind
	if f.Filename != "" {
		what += " " + inBrackets(clip(f.Filename, 120))
	}
	if f.MimeType != "" {
		what += ", " + inBrackets(clip(f.MimeType, 80))
	}
	if f.Duration > 0 {
		what += fmt.Sprintf(", %.0f s", f.Duration)
	}
	if f.Transcription != "" {
		return fmt.Sprintf("[%s, transcribed: %s]", what, inBrackets(clip(f.Transcription, 20_000))), nil
	}
	if f.Data == "" {
		if f.URL != "" {
			if why != "" {
				why = ": " + inBrackets(why)
			}
			return fmt.Sprintf("[%s, at %s; it was not fetched%s]", what, inBrackets(clip(f.URL, 500)), why), nil
		}
		return fmt.Sprintf("[%s, without its content]", what), nil
	}
	data, err := base64.StdEncoding.DecodeString(f.Data)
	switch {
	case err != nil:
		return fmt.Sprintf("[%s, which could not be read: it is not base64]", what), nil
	case len(data) > maxFile:
		return fmt.Sprintf("[%s, too large with %d MB; at most %d]", what, len(data)>>20, maxFile>>20), nil
	}
	if detected := http.DetectContentType(data); strings.HasPrefix(detected, "image/") {
		return "[" + what + "]", &protocol.Attachment{Filename: f.Filename, MimeType: detected, Data: f.Data}
	}
	name := strings.Trim(fileName.ReplaceAllString(path.Base(strings.ReplaceAll(f.Filename, "\\", "/")), "_"), ". ")
	if len(name) > 80 {
		name = name[len(name)-80:]
	}
	name = fmt.Sprintf("inbox/%s-%s", time.Now().UTC().Format("20060102-150405.000"), cmp.Or(name, kind))
	kept, err := h.o.Files.Write(agent, name, data)
	if err != nil {
		slog.Warn("A file that came over a channel was not kept", "err", err)
		return fmt.Sprintf("[%s, which could not be kept]", what), nil
	}
	return fmt.Sprintf("[%s, %d bytes, kept in your workspace as %s]", what, len(data), kept), nil
}
