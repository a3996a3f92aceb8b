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

// fetchLimit is how long all files of a message may take to come.
const fetchLimit = 90 * time.Second

// Fetcher is a Transport that can get files which a message names by an address. Which addresses those are is its own to decide: they were chosen by
// whoever wrote. An error that is ErrRefused says in a plain sentence why the file was not fetched.
type Fetcher interface {
	// Fetch returns a file of max bytes at most and what its server calls its type, which may be empty.
	Fetch(ctx context.Context, address string, max int64) (data []byte, mimeType string, err error)
}

// fetch gets the files that a message names by an address, where its channel can. Of one that did not come, why has the reason by its place.
func (h *Hub) fetch(ctx context.Context, in *protocol.ChannelInboundParams) (why map[int]string) {
	h.mu.Lock()
	a := h.accounts[key(in.Channel, in.AccountID)]
	var f Fetcher
	if a != nil && a.line != nil {
		f, _ = a.line.t.(Fetcher)
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
			slog.Warn("A file of a message could not be fetched", "channel", in.Channel, "account", in.AccountID, "err", err)
			why[i] = "its server did not give it"
		default:
			m.Data, m.Size = base64.StdEncoding.EncodeToString(data), int64(len(data))
			if m.MimeType == "" {
				m.MimeType = kind
			}
		}
	}
	return why
}
