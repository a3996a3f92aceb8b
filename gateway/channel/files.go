package channel

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"mime"
	"net/http"
	"path"
	"strings"

	"fairlead/gateway/protocol"
)

// Limits of the files of one message that an agent sends.
const (
	maxAttached      = 4
	maxAttachedBytes = 10 << 20
)

// SendFiles is [Hub.SendMessage] with files from the agent's workspace.
func (h *Hub) SendFiles(ctx context.Context, agent protocol.AgentID, from protocol.SessionKey, w Outgoing, paths []string) (SendResult, error) {
	var err error
	if w.Files, err = attach(h.o.Files, agent, paths); err != nil {
		return SendResult{}, err
	}
	return h.SendMessage(ctx, from, w)
}

// attach reads the files that an agent sends.
func attach(files Files, agent protocol.AgentID, paths []string) (list []protocol.Media, err error) {
	if len(paths) > maxAttached {
		return nil, protocol.ErrTooLarge.With(fmt.Sprintf("a message may have at most %d files", maxAttached))
	}
	total := 0
	for _, name := range paths {
		f, _, err := files.Read(agent, name)
		switch {
		case err != nil:
			return nil, err
		case f == nil:
			return nil, protocol.ErrBadRequest.With(name + " is a folder")
		}
		if total += len(f.Data); total > maxAttachedBytes {
			return nil, protocol.ErrTooLarge.With(fmt.Sprintf("the files of a message may have at most %d MB together", maxAttachedBytes>>20))
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
