// Package opener opens links, files and pictures, and saves files.
package opener

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/host"
	"fairlead/app/pick"
	"fairlead/app/system"
)

// Windows are the windows of the program.
type Windows interface {
	// SayIn shows a message in a window.
	SayIn(w fyne.Window, text string)
	// BelowBar returns the content of a new window, below the bar of another computer.
	BelowBar(content fyne.CanvasObject) fyne.CanvasObject
	Quit()
}

// Opener opens and saves for a window, which shows what became of it. It belongs to the GUI thread.
type Opener struct {
	ctx     context.Context
	app     fyne.App
	picker  *pick.Picker
	windows Windows
}

// New returns an opener that works until ctx ends.
func New(ctx context.Context, app fyne.App, picker *pick.Picker, w Windows) *Opener {
	return &Opener{ctx, app, picker, w}
}

// Link opens an address of the web or of mail.
func (o *Opener) Link(w fyne.Window, link string) {
	u, err := url.Parse(link)
	switch {
	case err != nil:
		o.windows.SayIn(w, "This link is not valid: "+link)
	case u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto":
		o.windows.SayIn(w, "Only web and mail links can be opened: "+link)
	case o.app.OpenURL(u) != nil:
		o.windows.SayIn(w, "The link could not be opened: "+link)
	}
}

// Path opens a file or a folder of this computer with its program.
func (o *Opener) Path(w fyne.Window, path string) {
	if err := o.app.OpenURL(fileURL(filepath.ToSlash(path))); err != nil {
		o.windows.SayIn(w, "No program could open "+path)
	}
}

// fileURL returns the file URL of a path with slashes (RFC 8089), also of C:/x.
func fileURL(path string) *url.URL {
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return &url.URL{Scheme: "file", Path: path}
}

// revealTimeout limits the time for starting a file manager.
const revealTimeout = 10 * time.Second

// Reveal shows a file of this computer in the file manager; without one that can, its folder.
func (o *Opener) Reveal(w fyne.Window, path string) {
	bind.Run(o.ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, revealTimeout)
		defer cancel()
		return system.Reveal(ctx, path)
	}, func(err error) {
		if err != nil {
			slog.Info("The file manager cannot show single files", "err", err)
			o.Path(w, filepath.Dir(path))
		}
	})
}

// Save asks for a file name and writes the file; the window shows what became of it.
func (o *Opener) Save(w fyne.Window, to host.SaveFile) {
	failed := cmp.Or(to.Failed, "The file was not saved completely")
	o.picker.SaveFile(w, cmp.Or(to.Title, "Save file"), to.Name, func(path string) {
		run(o, w, failed, func(ctx context.Context) (string, error) {
			f, err := os.Create(path)
			if err != nil {
				return "", system.FileProblem(err)
			}
			text, err := to.Write(ctx, f)
			if err := errors.Join(err, f.Close()); err != nil {
				return "", system.FileProblem(err)
			}
			return cmp.Or(text, "Saved to "+path), nil
		}, func(text string) { o.windows.SayIn(w, text) })
	})
}

// maxRead is the size of the largest file that [Opener.Read] reads, in bytes.
const maxRead = 8_000_000

// Read asks for a file and passes on its content.
func (o *Opener) Read(w fyne.Window, to host.OpenFile) {
	o.picker.OpenFile(w, to.Title, to.Button, func(path string) {
		run(o, w, "The file could not be read", func(context.Context) ([]byte, error) {
			if info, err := os.Stat(path); err == nil && info.Size() > maxRead {
				return nil, errors.New("it is larger than 8 MB")
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return nil, system.FileProblem(err)
			}
			return data, nil
		}, to.Read)
	})
}

// run runs work off the GUI thread, then done on it; the window says what failed.
func run[R any](o *Opener, w fyne.Window, failed string, work func(context.Context) (R, error), done func(R)) {
	bind.Go(o.ctx, work, func(r R, err error) {
		if err != nil {
			o.windows.SayIn(w, failed+": "+err.Error())
			return
		}
		done(r)
	})
}
