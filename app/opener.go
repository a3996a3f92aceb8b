package app

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/host"
	"fairlead/app/native"
	"fairlead/app/system"
	"fairlead/app/transcript"
	"fairlead/app/widgets"
)

// opener opens links, files and pictures, and saves files.
type opener struct{ ui *ui }

// openURLIn opens an address for a window, which shows why that failed.
func (o *opener) openURLIn(w fyne.Window, u *url.URL) {
	if u == nil {
		return
	}
	if u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" {
		o.ui.messages.showIn(w, "Only web and mail links can be opened: "+u.String())
		return
	}
	if err := o.ui.app.OpenURL(u); err != nil {
		o.ui.messages.showIn(w, "The link could not be opened: "+u.String())
	}
}

func (o *opener) openLink(link string) { o.openLinkIn(o.ui.main.conversation.window, link) }

func (o *opener) openLinkIn(w fyne.Window, link string) {
	u, err := url.Parse(link)
	if err != nil {
		o.ui.messages.showIn(w, "This link is not valid: "+link)
		return
	}
	o.openURLIn(w, u)
}

func (o *opener) openPath(path string) {
	if err := o.ui.app.OpenURL(fileURL(filepath.ToSlash(path))); err != nil {
		o.ui.messages.show("No program could open " + path)
	}
}

// fileURL returns the file URL of a path with slashes (RFC 8089), also of C:/x.
func fileURL(path string) *url.URL {
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return &url.URL{Scheme: "file", Path: path}
}

// openImage opens a picture in a window of its own. A click, + and - zoom, 0 fits it. A picture that
// cannot be shown is saved instead.
func (o *opener) openImage(r fyne.Resource) {
	if bad, ok := r.(*transcript.Unreadable); ok {
		o.save(o.ui.main.conversation.window, host.SaveFile{Name: "picture", Write: func(_ context.Context, f io.Writer) (string, error) {
			_, err := f.Write(bad.Data)
			return "The picture was saved.", err
		}})
		return
	}
	w := native.NewWindow(o.ui.app, "Picture – Fairlead", nil)
	w.SetPadded(false)
	z := widgets.NewZoom(r)
	w.SetContent(belowBar(o.ui.newBar(), z.Scroller))
	w.Resize(fyne.NewSize(800, 600))
	w.CenterOnScreen()
	w.Canvas().SetOnTypedRune(func(r rune) {
		switch r {
		case '+', '=':
			z.Step(1)
		case '-':
			z.Step(-1)
		case '0':
			z.Step(0)
		}
	})
	w.Canvas().SetOnTypedKey(func(e *fyne.KeyEvent) {
		if e.Name == fyne.KeyEscape {
			w.Close()
		}
	})
	shortcut(w, fyne.KeyW, w.Close)
	shortcut(w, fyne.KeyQ, o.ui.quit)
	w.Show()
}

// fileOpener opens this computer's files with their programs; nil if the gateway is remote.
func (o *opener) fileOpener() func(string) {
	if o.ui.backend.IsRemote() {
		return nil
	}
	return o.openPath
}

// revealTimeout limits the time for starting a file manager.
const revealTimeout = 10 * time.Second

// reveal shows a file of this computer in the file manager; without one that can, its folder.
func (o *opener) reveal(path string) {
	bind.Run(o.ui.ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, revealTimeout)
		defer cancel()
		return system.Reveal(ctx, path)
	}, func(err error) {
		if err != nil {
			slog.Info("The file manager cannot show single files", "err", err)
			o.openPath(filepath.Dir(path))
		}
	})
}

// save asks for a file name and writes the file; the window shows what became of it.
func (o *opener) save(w fyne.Window, to host.SaveFile) {
	failed := cmp.Or(to.Failed, "The file was not saved completely")
	o.ui.picker.SaveFile(w, cmp.Or(to.Title, "Save file"), to.Name, func(path string) {
		request(o.ui, w, failed+": ", func(ctx context.Context) (string, error) {
			f, err := os.Create(path)
			if err != nil {
				return "", system.FileProblem(err)
			}
			text, err := to.Write(ctx, f)
			if err := errors.Join(err, f.Close()); err != nil {
				return "", system.FileProblem(err)
			}
			return cmp.Or(text, "Saved to "+path), nil
		}, func(text string) { o.ui.messages.showIn(w, text) })
	})
}

// maxOpen is the size of the largest file that [opener.openFile] reads, in bytes.
const maxOpen = 8_000_000

// openFile asks for a file and calls done with its content.
func (o *opener) openFile(title, button string, done func([]byte)) {
	o.ui.picker.OpenFile(o.ui.main.conversation.window, title, button, func(path string) {
		request(o.ui, o.ui.main.conversation.window, "The file could not be read: ", func(context.Context) ([]byte, error) {
			if info, err := os.Stat(path); err == nil && info.Size() > maxOpen {
				return nil, errors.New("it is larger than 8 MB")
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return nil, system.FileProblem(err)
			}
			return data, nil
		}, done)
	})
}
