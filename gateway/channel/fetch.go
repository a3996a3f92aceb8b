package channel

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

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
// index of each missing file to the reason.
func (h *Hub) fetch(ctx context.Context, in *protocol.ChannelInboundParams) (why map[int]string) {
	h.mu.Lock()
	a := h.accounts[key(in.Channel, in.AccountID)]
	var f Fetcher
	if a != nil && a.sender != nil {
		f, _ = a.sender.t.(Fetcher)
	}
	h.mu.Unlock()
	if f == nil {
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
			if m.MimeType == "" {
				m.MimeType = kind
			}
		}
	}
	return why
}
