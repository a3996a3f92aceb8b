package fs

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/workspace"
)

// Limits of a download.
const (
	defaultFetch  = 256 << 20 // bytes
	maxFetch      = 1 << 30   // bytes
	downloadLimit = protocol.FetchTime
)

type fetchIn struct {
	Path           string            `json:"path"`
	URL            string            `json:"url"`
	Headers        map[string]string `json:"headers,omitempty"`
	FetchMaxBytes  int64             `json:"fetch_max_bytes,omitempty"`
	ExpectedSHA256 string            `json:"expected_sha256,omitempty"`
	Mode           string            `json:"mode,omitempty"`
	// Hold only collects the content: fs_write finishes the file, after a question that shows it.
	Hold bool `json:"hold,omitempty"`
}

type fetchOut struct {
	FileID   string `json:"file_id,omitempty"` // of a file that is held
	Path     string `json:"path"`
	Total    int64  `json:"total"`
	SHA256   string `json:"sha256"`
	Duration int64  `json:"duration_ms"`
}

// check returns the request's address.
func (in fetchIn) check() (*url.URL, error) {
	u, err := url.Parse(in.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, protocol.NewFault(protocol.FaultInvalidArgs, "url must be an address that begins with http:// or https://")
	case u.User != nil:
		return nil, protocol.NewFault(protocol.FaultInvalidArgs, "url must not contain a user name or password: use headers")
	case in.FetchMaxBytes < 0 || in.FetchMaxBytes > maxFetch:
		return nil, protocol.NewFault(protocol.FaultInvalidArgs, fmt.Sprintf("fetch_max_bytes must be 1 to %d", maxFetch))
	}
	_, err = parseMode(in.Mode)
	return u, err
}

func previewFetch(scope access.Scope, in fetchIn) protocol.CallPreview {
	p := preview(scope, in.Path, true, func(ws *workspace.Root, p *protocol.CallPreview, at workspace.Path) {
		*p, _ = access.PreviewWrite(ws, at, "", 0)
		if _, err := in.check(); err != nil && p.Problem == "" {
			access.SetProblem(p, err)
		}
		p.Truncated = true // the content is not known before
	})
	p.Network = true
	if in.Hold { // it needs no folder
		p.Folders = nil
	}
	return p
}

// fetchTool is fs_fetch.
type fetchTool struct{ open *transfers }

// run downloads an address to a file, which it replaces at the end. It needs the network, which
// the person allows with the call.
func (t fetchTool) run(ctx context.Context, ws *workspace.Root, call access.Call, in fetchIn) (out fetchOut, err error) {
	began := time.Now()
	u, err := in.check()
	if err != nil {
		return out, err
	}
	p, err := destination(ws, in.Path, in.Hold)
	if err != nil {
		return out, err
	}
	mode, err := parseMode(in.Mode)
	if err != nil {
		return out, err
	}
	ctx, cancel := context.WithTimeout(ctx, downloadLimit)
	defer cancel()
	body, err := get(ctx, u, in.Headers)
	if err != nil {
		return out, err
	}
	defer body.Close()
	w, err := in.begin(ws, p, call)
	if err != nil {
		return out, err
	}
	isHeld := false
	defer func() {
		if !isHeld {
			w.Abort()
		}
	}()
	if err := in.download(ctx, w, body); err != nil {
		return out, err
	}
	out = fetchOut{Path: p.String(), Total: w.Size(), SHA256: w.Sum()}
	if in.Hold {
		x := &transfer{caller: access.CallerID(call.Caller), collected: w.Size(), writer: &writer{at: p, mode: mode, new: w}}
		out.FileID, err = t.open.begin(x)
		isHeld, out.Duration = err == nil, since(began)
		return out, err
	}
	unlock, err := ws.Lock(ctx, p)
	if err != nil {
		return out, err
	}
	defer unlock()
	if _, err = w.Commit(mode, call.Backup); err != nil {
		return out, at(p, "write", err)
	}
	out.Duration = since(began)
	return out, nil
}

// download copies the content, within the limit of the call, and compares its checksum.
func (in fetchIn) download(ctx context.Context, w *workspace.Replacement, body io.Reader) error {
	limit := cmp.Or(in.FetchMaxBytes, defaultFetch)
	n, err := io.Copy(w, io.LimitReader(body, limit+1))
	switch {
	case err != nil && ctx.Err() != nil:
		return downloadFault(ctx.Err())
	case err != nil:
		return protocol.NewFault(protocol.FaultInternal, "The download broke off: "+format.WithoutPath(err).Error()+". Nothing was written.")
	case n > limit:
		return protocol.NewFault(protocol.FaultTooLarge, fmt.Sprintf("The file has more than %d bytes. Nothing was written. Set fetch_max_bytes to allow more.", limit))
	case in.ExpectedSHA256 != "" && !strings.EqualFold(in.ExpectedSHA256, w.Sum()):
		f := protocol.NewFault(protocol.FaultFailedPrecondition, "The file has the SHA-256 "+w.Sum()+", which is not the expected one. Nothing was written.")
		return f.With(map[string]string{"observed_sha256": w.Sum()})
	}
	return nil
}

// begin makes the place for the content of a download.
func (in fetchIn) begin(ws *workspace.Root, p workspace.Path, call access.Call) (*workspace.Replacement, error) {
	if in.Hold {
		return collect(ws, p)
	}
	return replace(ws, p, call.ExpectedSHA256)
}
