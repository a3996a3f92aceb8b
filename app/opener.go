package app

import (
	"net/url"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"

	"fairlead/app/widgets"
)

// opener opens links, files and pictures, and asks for files.
type opener struct{ ui *ui }

// fileName turns a title into a file name.
func fileName(title string) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || r < ' ' {
			return '-'
		}
		return r
	}, title)
	if r := []rune(name); len(r) > 60 {
		name = string(r[:60])
	}
	if name = strings.Trim(name, " .-"); name == "" {
		return "chat"
	}
	return name
}

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

// fileURL returns the file URL of a path with slashes (RFC 8089); a path that begins with a drive
// letter gets a leading slash.
func fileURL(path string) *url.URL {
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return &url.URL{Scheme: "file", Path: path}
}

// openImage opens a picture in its own window. A click, + and - zoom, 0 fits the whole picture,
// Escape closes the window.
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

// fileOpener opens this computer's files with the system's default program; it is nil if the
// gateway is remote.
func (o *opener) fileOpener() func(string) {
	if o.ui.backend.flags.join != "" {
		return nil
	}
	return o.openPath
}

// reveal shows a file of this computer in the file manager.
func (o *opener) reveal(path string) { o.openPath(filepath.Dir(path)) }
