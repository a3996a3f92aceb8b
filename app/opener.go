package app

import (
	"context"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/storage"

	"fairlead/app/widgets"
)

// opener opens links, files and pictures, and asks for files.
type opener struct{ ui *ui }

func (o *opener) openURL(u *url.URL) {
	if u == nil {
		return
	}
	if u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" {
		o.ui.messages.show("Only web and mail links can be opened: " + u.String())
		return
	}
	if err := o.ui.app.OpenURL(u); err != nil {
		o.ui.messages.show("The link could not be opened: " + u.String())
	}
}

func (o *opener) openLink(link string) {
	u, err := url.Parse(link)
	if err != nil {
		o.ui.messages.show("This link is not valid: " + link)
		return
	}
	o.openURL(u)
}

func (o *opener) openPath(path string) {
	if err := o.ui.app.OpenURL(fileURL(filepath.ToSlash(path))); err != nil {
		o.ui.messages.show("This could not be opened: " + path)
	}
}

// fileURL returns the file URL of a path with slashes (RFC 8089), also of C:/x.
func fileURL(path string) *url.URL {
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return &url.URL{Scheme: "file", Path: path}
}

// openImage opens a picture in a window of its own. A click, + and - zoom, 0 fits it.
func (o *opener) openImage(r fyne.Resource) {
	w := o.ui.app.NewWindow("Picture – Fairlead")
	w.SetPadded(false)
	z := widgets.NewZoom(r)
	w.SetContent(z.Scroller)
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
	if o.ui.backend.flags.join != "" {
		return nil
	}
	return o.openPath
}

// reveal shows a file of this computer in the file manager.
func (o *opener) reveal(path string) { o.openPath(filepath.Dir(path)) }

// showFiles opens a file dialog; Fyne sets no size before it is open (fyne 2.8.0, dialog/file.go).
func showFiles(d *dialog.FileDialog) {
	d.Show()
	d.Resize(fyne.NewSize(760, 520))
}

func pickFiles(w fyne.Window, done func([]string)) {
	d := dialog.NewFileOpen(func(r fyne.URIReadCloser, err error) {
		if err != nil || r == nil {
			return
		}
		defer r.Close()
		done([]string{r.URI().Path()})
	}, w)
	showFiles(d)
}

func pickFolder(w fyne.Window, done func(string)) {
	d := dialog.NewFolderOpen(func(dir fyne.ListableURI, err error) {
		if err == nil && dir != nil {
			done(dir.Path())
		}
	}, w)
	showFiles(d)
}

// newSaveDialog creates a dialog that asks for a file name and calls write with the file; the text
// that write returns, or the error after the text failed, is shown in the window.
func (o *opener) newSaveDialog(window fyne.Window, name, failed string, write func(context.Context, fyne.URIWriteCloser) (string, error)) *dialog.FileDialog {
	d := dialog.NewFileSave(func(w fyne.URIWriteCloser, err error) {
		if err != nil || w == nil {
			return
		}
		request(o.ui, window, failed, func(ctx context.Context) (string, error) {
			text, err := write(ctx, w)
			return text, errors.Join(err, w.Close())
		}, func(text string) { o.ui.messages.showIn(window, text) })
	}, window)
	d.SetFileName(name)
	return d
}

// saveChat asks for a file name, with a suggestion, and calls write with the file.
func (o *opener) saveChat(window fyne.Window, name string, write func(context.Context, io.Writer) error) {
	d := o.newSaveDialog(window, name, "The chat could not be saved: ", func(ctx context.Context, w fyne.URIWriteCloser) (string, error) {
		return "Saved to " + w.URI().Path(), write(ctx, w)
	})
	d.SetFilter(storage.NewExtensionFileFilter([]string{filepath.Ext(name)}))
	showFiles(d)
}

// saveTo asks for a file name and calls write with the file; the text that write returns is shown.
func (o *opener) saveTo(name string, write func(context.Context, io.Writer) (string, error)) {
	showFiles(o.newSaveDialog(o.ui.main.window, name, "The file was not saved completely: ", func(ctx context.Context, w fyne.URIWriteCloser) (string, error) {
		return write(ctx, w)
	}))
}

// maxRulesFile is the largest file of rules that can be imported, in bytes.
const maxRulesFile = 8 << 20

func (o *opener) openFile(done func([]byte)) {
	pickFiles(o.ui.main.window, func(paths []string) {
		request(o.ui, o.ui.main.window, "The file could not be read: ", func(context.Context) ([]byte, error) {
			if info, err := os.Stat(paths[0]); err == nil && info.Size() > maxRulesFile {
				return nil, errors.New("it is larger than 8 MB")
			}
			return os.ReadFile(paths[0])
		}, done)
	})
}
