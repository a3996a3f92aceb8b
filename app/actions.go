package app

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/storage"

	"fairlead/app/bind"
	"fairlead/app/state"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// maxAttachment is the largest picture that can be attached to a message, in bytes. The Read tool
// of the original system has the same limit.
const maxAttachment = 10 << 20

func (s *shell) say(text string) {
	s.toast.Say(text, nil, time.Now(), time.Now().Add(6*time.Second))
	s.body.Refresh()
}

// sayIn shows a message in the window of the action that caused it: the main window may be hidden.
func (s *shell) sayIn(w fyne.Window, text string) {
	for _, c := range s.torn {
		if c.window == w {
			c.toast.Say(text, nil, time.Now(), time.Now().Add(6*time.Second))
			c.foot.Refresh()
			return
		}
	}
	s.say(text)
}

// readAttachment reads a picture for a message. It blocks on the disk.
func readAttachment(path string) (protocol.Attachment, error) {
	info, err := os.Stat(path)
	if err != nil {
		return protocol.Attachment{}, err
	}
	if info.Size() > maxAttachment {
		return protocol.Attachment{}, fmt.Errorf("%s has %.1f MB; pictures may have 10 MB", filepath.Base(path), float64(info.Size())/(1<<20))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return protocol.Attachment{}, err
	}
	return attachment(filepath.Base(path), data)
}

func attachment(name string, data []byte) (protocol.Attachment, error) {
	kind := http.DetectContentType(data)
	if !strings.HasPrefix(kind, "image/") {
		return protocol.Attachment{}, fmt.Errorf("%s is not a picture", name)
	}
	return protocol.Attachment{Filename: name, MimeType: kind, Data: base64.StdEncoding.EncodeToString(data)}, nil
}

// showFiles opens a file dialog. Fyne requires it to be open before its size is set (fyne 2.8.0,
// dialog/file.go MinSize).
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

// export saves a chat as Markdown to a file that the person chooses.
func (s *shell) export(key protocol.SessionKey, window fyne.Window) {
	bind.Go(s.ctx, func(ctx context.Context) ([2]string, error) {
		title, text, err := s.b.state.Chats.Export(ctx, key)
		return [2]string{title, text}, err
	}, func(r [2]string, err error) {
		if err != nil {
			s.sayIn(window, err.Error())
			return
		}
		s.saveAs(window, r[0], r[1])
	})
}

// saveAs asks for a file name and saves a text there as Markdown.
func (s *shell) saveAs(window fyne.Window, title, text string) {
	d := dialog.NewFileSave(func(w fyne.URIWriteCloser, err error) {
		if err != nil || w == nil {
			return
		}
		bind.Go(s.ctx, func(context.Context) (struct{}, error) {
			_, err := w.Write([]byte(text))
			return struct{}{}, errors.Join(err, w.Close())
		}, func(_ struct{}, err error) {
			if err != nil {
				s.sayIn(window, "The chat could not be saved: "+err.Error())
				return
			}
			s.sayIn(window, "Saved to "+w.URI().Path())
		})
	}, window)
	d.SetFileName(fileName(title) + ".md")
	d.SetFilter(storage.NewExtensionFileFilter([]string{".md"}))
	showFiles(d)
}

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

// delete deletes a chat and offers to undo that.
func (s *shell) delete(key protocol.SessionKey) {
	e, _ := s.view.Session(key)
	title := state.TitleOf(e)
	bind.Go(s.ctx, func(ctx context.Context) (time.Time, error) { return s.b.state.Chats.Delete(ctx, key) }, func(until time.Time, err error) {
		if err != nil {
			s.say("The chat was not deleted: " + err.Error())
			return
		}
		s.closeTorn(func(k protocol.SessionKey) bool { return k == key })
		shown := s.key == key
		s.offerUndo(deleted(title), func() { s.restore(key, shown) }, until)
		if shown {
			s.openAnother(key)
		}
		s.drafts.drop(key)
	})
}

// deleted shows which chat was deleted.
func deleted(title string) string { return "“" + protocol.Line(title, 48) + "” was deleted." }

// openAnother opens the chat with the newest activity other than the given one, or the main chat.
func (s *shell) openAnother(but protocol.SessionKey) {
	for _, e := range s.view.Sessions {
		if e.SessionKey != but {
			s.open(e.SessionKey)
			return
		}
	}
	s.open(s.mainChat())
}

// restore restores a deleted chat, and opens it if it was open before.
func (s *shell) restore(key protocol.SessionKey, show bool) {
	bind.Go(s.ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, s.b.state.Chats.Restore(ctx, key) }, func(_ struct{}, err error) {
		if err != nil {
			s.say("The chat could not be brought back: " + err.Error())
			return
		}
		if show {
			s.open(key)
		}
	})
}

// chatMenu is the context menu of a chat in the sidebar.
func (s *shell) chatMenu(e protocol.SessionEntry, at fyne.Position) {
	widgets.ShowMenuAt(s.sidebar.rows, at, []*fyne.MenuItem{
		fyne.NewMenuItem("Open", func() { s.open(e.SessionKey) }),
		fyne.NewMenuItem("Open in a window of its own", func() { s.tearOff(e.SessionKey) }),
		fyne.NewMenuItem("Rename", func() { s.open(e.SessionKey); s.pane.Rename() }),
		fyne.NewMenuItem("Export as Markdown…", func() { s.export(e.SessionKey, s.window) }),
		fyne.NewMenuItemSeparator(),
		fyne.NewMenuItem("Delete", func() { s.delete(e.SessionKey) }),
	})
}

func (s *shell) openURL(u *url.URL) {
	if u == nil {
		return
	}
	if u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" {
		s.say("Only addresses of the web and of mail are opened, and this is none: " + u.String())
		return
	}
	if err := s.app.OpenURL(u); err != nil {
		s.say("The link could not be opened: " + u.String())
	}
}

func (s *shell) openLink(link string) {
	u, err := url.Parse(link)
	if err != nil {
		s.say("The link is no address: " + link)
		return
	}
	s.openURL(u)
}

func (s *shell) openPath(path string) {
	if err := s.app.OpenURL(fileURL(filepath.ToSlash(path))); err != nil {
		s.say("It could not be opened: " + path)
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
func (s *shell) openImage(r fyne.Resource) {
	w := s.app.NewWindow("Picture – Fairlead")
	w.SetPadded(false)
	z := widgets.NewZoom(r)
	w.SetContent(z.Scroller)
	w.Resize(fyne.NewSize(800, 600))
	w.CenterOnScreen()
	w.Canvas().SetOnTypedRune(func(r rune) {
		switch r {
		case '+', '=':
			z.By(1)
		case '-':
			z.By(-1)
		case '0':
			z.By(0)
		}
	})
	w.Canvas().SetOnTypedKey(func(e *fyne.KeyEvent) {
		if e.Name == fyne.KeyEscape {
			w.Close()
		}
	})
	shortcut(w, fyne.KeyW, w.Close)
	shortcut(w, fyne.KeyQ, s.quit)
	w.Show()
}
