// Package console shows the terminals of services in browsers: a page with a terminal emulator, and
// the WebSocket that carries the frames of the terminal (see [protocol.TerminalSnapshot]).
package console

import (
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"sync/atomic"

	"fairlead/gateway/protocol"
)

// Viewer is who sees a terminal.
type Viewer struct {
	Name    string // for other viewers
	IsOwner bool
}

// Terminals are the terminals on the machines.
type Terminals interface {
	// View shows the terminal of a service to a viewer, until ctx or the terminal ends, or the viewer
	// leaves. It starts the program if none runs. The error before the first frame says why there is
	// no terminal.
	View(ctx context.Context, v protocol.Service, who Viewer, conn *Conn) error
	// End ends the program of a service that has changed, or that is switched off or deleted.
	End(v protocol.Service)
}

// Visit is a visit to a terminal.
type Visit struct {
	Service        protocol.Service
	Viewer         Viewer
	Sent, Received *atomic.Int64 // bytes of frames
}

// Console serves the page and its parts. Terminals is required.
type Console struct{ Terminals Terminals }

// basePath is the path of the WebSocket; the parts of the page are below it.
const basePath = "/.fairlead/terminal"

// Has reports whether a path is one of the console's.
func Has(p string) bool { return p == basePath || strings.HasPrefix(p, basePath+"/") }

//go:embed page xterm
var files embed.FS

var pageTemplate = template.Must(template.ParseFS(files, "page/page.html"))

// parts are the parts of the page by their name below basePath.
var parts = map[string]string{
	"page.js": "page/page.js", "page.css": "page/page.css", "xterm.js": "xterm/xterm.js", "xterm.css": "xterm/xterm.css",
}

// Serve answers a request of a visitor who may type in the terminal. ctx ends with that right.
// It reports whether there is something at the path of the request.
func (c *Console) Serve(ctx context.Context, w http.ResponseWriter, r *http.Request, v Visit) (found bool) {
	switch {
	case r.URL.Path == basePath:
		c.connect(ctx, w, r, v)
	case r.URL.Path == "/":
		servePage(w, v.Service.Title)
	default:
		dir, name := path.Split(r.URL.Path)
		file, ok := parts[name]
		if !ok || dir != basePath+"/" {
			return false
		}
		servePart(w, r, file)
	}
	return true
}

func servePage(w http.ResponseWriter, title string) {
	nonce := rand.Text()
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-"+nonce+"'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	_ = pageTemplate.Execute(w, struct{ Title, Nonce string }{title, nonce}) // the visitor may have left
}

func servePart(w http.ResponseWriter, r *http.Request, file string) {
	h := w.Header()
	h.Set("Cache-Control", "no-cache") // it changes with the program
	h.Set("X-Content-Type-Options", "nosniff")
	http.ServeFileFS(w, r, fs.FS(files), file)
}

// connect shows the terminal on a WebSocket.
func (c *Console) connect(ctx context.Context, w http.ResponseWriter, r *http.Request, v Visit) {
	conn, err := accept(ctx, w, r, v)
	if err != nil {
		return // the answer says why
	}
	defer conn.Close()
	switch err := c.Terminals.View(conn.ctx, v.Service, v.Viewer, conn); {
	case err == nil || conn.ctx.Err() != nil:
	case errors.Is(err, protocol.ErrUnavailable), errors.Is(err, protocol.ErrNotConnected):
		_ = conn.frames.Reject(closeOffline, "The computer is offline. Trying again…") // it may be gone
	default:
		slog.Info("A terminal is not shown", "service", v.Service.ID, "err", err)
		_ = conn.Write(protocol.TerminalEnded, protocol.Encode(protocol.TerminalEnd{Error: err.Error()})) // it may be gone
	}
}
