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

	"fairlead/gateway/config"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/speech"
	"fairlead/gateway/workspace"
)

// compose formats a message for the agent: time, place and sender, then the text, then its files.
// why maps the index of a file to the reason why it could not be fetched.
func compose(files *workspace.Files, cfg config.Config, agent protocol.AgentID, in protocol.ChannelInboundParams, why map[int]string) (string, []protocol.Attachment) {
	m := in.Message
	at := time.Now()
	if sent := time.UnixMilli(m.Timestamp); m.Timestamp > 0 && sent.Before(at.Add(5*time.Minute)) {
		at = sent
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[%s · %s", in.Channel, at.In(cfg.Zone()).Format("3:04 PM MST"))
	if in.Peer.Kind != protocol.PeerDM {
		who := in.Peer.ID
		if s := in.Sender; s != nil {
			who = cmp.Or(s.Name, s.Handle, s.ID, who)
			if s.ID != "" && s.ID != who { // anybody can use somebody else's name
				who = format.Clip(who, 120) + " (" + s.ID + ")"
			}
		}
		fmt.Fprintf(&b, " · %s", inBrackets(who))
	}
	b.WriteString("]")
	if m.ReplyToText != "" {
		fmt.Fprintf(&b, "\n[in reply to: %s]", inBrackets(format.Clip(m.ReplyToText, maxQuote)))
	}
	if text := strings.TrimSpace(m.Text); text != "" {
		if len(text) > maxText {
			text = format.Head(text, maxText) + fmt.Sprintf("\n[the message is longer; %d bytes are left out]", len(text)-maxText)
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
			fmt.Fprintf(&b, ", %s", inBrackets(format.Clip(l.Name, 200)))
		}
		b.WriteString("]")
	}
	var attached []protocol.Attachment
	for i, f := range m.Media {
		line, a := media(files, agent, f, why[i])
		if a != nil {
			attached = append(attached, *a)
		}
		b.WriteString("\n" + line)
	}
	return b.String(), attached
}

// quotedSetting matches text of somebody else that would change a setting for the message.
var quotedSetting = regexp.MustCompile(`((?:^|\s)/)(\w+:)`)

// inBrackets makes somebody else's text safe for a line between brackets.
func inBrackets(s string) string {
	s = format.Line(s, 0)
	s = quotedSetting.ReplaceAllString(s, "$1 $2")
	return strings.NewReplacer("[", "(", "]", ")").Replace(s)
}

var fileName = regexp.MustCompile(`[^A-Za-z0-9._ -]+`)

// media describes a file, attaches images and recordings to the message, and stores any other file
// in the agent's workspace. why is the reason why a file that has only an address was not fetched.
func media(files *workspace.Files, agent protocol.AgentID, f protocol.Media, why string) (line string, attached *protocol.Attachment) {
	kind := f.Type
	if !slices.Contains([]string{"image", "audio", "video", "document"}, kind) {
		kind = "document"
	}
	what := kind
	if f.Filename != "" {
		what += " " + inBrackets(format.Clip(f.Filename, 120))
	}
	if f.MimeType != "" {
		what += ", " + inBrackets(format.Clip(f.MimeType, 80))
	}
	if f.Duration > 0 {
		what += fmt.Sprintf(", %.0f s", f.Duration)
	}
	if f.Transcription != "" {
		return fmt.Sprintf("[%s, transcribed: %s]", what, inBrackets(format.Clip(f.Transcription, 20_000))), nil
	}
	if f.Data == "" {
		if f.URL != "" {
			if why != "" {
				why = ": " + inBrackets(why)
			}
			return fmt.Sprintf("[%s, at %s; it was not fetched%s]", what, inBrackets(format.Clip(f.URL, 500)), why), nil
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
	declared := f.MimeType
	if declared == "" && kind == "audio" {
		declared = "audio/unknown"
	}
	if recording, ok := speech.Type(declared, data); ok {
		return "[" + what + "]", &protocol.Attachment{Filename: f.Filename, MimeType: recording, Data: f.Data}
	}
	name := strings.Trim(fileName.ReplaceAllString(path.Base(strings.ReplaceAll(f.Filename, "\\", "/")), "_"), ". ")
	if len(name) > 80 {
		name = name[len(name)-80:]
	}
	name = fmt.Sprintf("inbox/%s-%s", time.Now().UTC().Format("20060102-150405.000"), cmp.Or(name, kind))
	stored, err := files.Write(agent, name, data)
	if err != nil {
		slog.Warn("Storing a file from a channel failed", "err", err)
		return fmt.Sprintf("[%s, which could not be stored]", what), nil
	}
	return fmt.Sprintf("[%s, %d bytes, stored in your workspace as %s]", what, len(data), stored), nil
}

// fetchLimit limits the time to fetch all files of a message.
const fetchLimit = 90 * time.Second

// Fetcher is a Transport that can fetch files by the addresses in a message. The sender of the
// message chose these addresses, so the transport decides which ones it fetches. An error that is
// ErrRefused contains the reason as a sentence for people.
type Fetcher interface {
	// Fetch returns a file of at most max bytes, and the type that its server declares, which may
	// be empty.
	Fetch(ctx context.Context, address string, max int64) (data []byte, mimeType string, err error)
}

// fetch fetches the files that a message refers to by address, if its channel can. why maps the
// index of each missing file to the reason. l is nil while the account is not connected.
func fetch(ctx context.Context, l *sender, in *protocol.ChannelInboundParams) (why map[int]string) {
	if l == nil {
		return nil
	}
	f, ok := l.t.(Fetcher)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	why = make(map[int]string)
	for i := range in.Message.Media {
		m := &in.Message.Media[i]
		if m.Data != "" || m.URL == "" || m.Transcription != "" {
			continue
		}
		data, kind, err := f.Fetch(ctx, m.URL, maxFile)
		switch {
		case errors.Is(err, ErrRefused):
			why[i] = strings.TrimPrefix(err.Error(), ErrRefused.Error()+": ")
		case err != nil:
			slog.Warn("Fetching a file of a message failed", "channel", in.Channel, "account", in.AccountID, "err", err)
			why[i] = "its server did not send it"
		default:
			m.Data, m.Size = base64.StdEncoding.EncodeToString(data), int64(len(data))
			m.MimeType = cmp.Or(m.MimeType, kind)
		}
	}
	return why
}
