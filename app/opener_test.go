package app

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/pick"
	"fairlead/app/system"
)

func TestPathsAreWholeInAddressesOfFiles(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/home/me/50% done #1?": "file:///home/me/50%25%20done%20%231%3F",
		"C:/Users/Zoë":          "file:///C:/Users/Zo%C3%AB",
	} {
		t.Run(path, func(t *testing.T) {
			if got := fileURL(path).String(); got != want {
				t.Errorf("%s: %s, want %s", path, got, want)
			}
		})
	}
}

func TestALinkThatIsNotOpenedSaysWhy(t *testing.T) {
	for link, want := range map[string]string{"README.md": "Only web and mail links", "file:///etc/passwd": "can be opened", "http://[": "is not valid"} {
		t.Run(link, func(t *testing.T) {
			u := newTestUI(t)
			u.update(sample())
			u.opener.openLink(link)
			pagetest.Shows(t, u.messages.toast, want)
		})
	}
}

func TestASavedChatIsWhereThePersonWantsIt(t *testing.T) {
	for name, c := range map[string]struct{ path, want string }{
		"in a folder":                     {filepath.Join(t.TempDir(), "a.md"), "Saved"},
		"in a folder that does not exist": {filepath.Join(t.TempDir(), "none", "a.md"), "The chat could not be saved: "},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := newTestUI(t)
				u.update(sample())
				u.picker = pick.New(u.ctx, u.app, pickMemory(u.backend.Prefs), func(_ context.Context, _ string, q system.Question) ([]string, error) {
					if q.Name != "A chat.md" || q.Kind != system.SaveFile {
						t.Errorf("asked %+v", q)
					}
					return []string{c.path}, nil
				}, u.messages.show)
				u.opener.save(u.main.conversation.window, host.SaveFile{Name: "A chat.md", Failed: "The chat could not be saved", Write: func(_ context.Context, f io.Writer) (string, error) {
					_, err := io.WriteString(f, "text")
					return "", err
				}})
				pagetest.Settle()
				pagetest.Shows(t, u.messages.toast, c.want)
				if data, err := os.ReadFile(c.path); (err == nil) != (c.want == "Saved") || err == nil && string(data) != "text" {
					t.Errorf("the file has %q, %v", data, err)
				}
			})
		})
	}
}
