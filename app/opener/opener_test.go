package opener

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"fyne.io/fyne/v2"

	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/pick"
	"fairlead/app/preferences"
	"fairlead/app/system"
)

// fakeWindows record what they are asked to say.
type fakeWindows struct{ said string }

func (w *fakeWindows) SayIn(_ fyne.Window, text string)                     { w.said += text }
func (w *fakeWindows) BelowBar(content fyne.CanvasObject) fyne.CanvasObject { return content }
func (w *fakeWindows) Quit()                                                { w.said += "quit" }

func TestFileURLsContainWholePaths(t *testing.T) {
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
			w := &fakeWindows{}
			New(t.Context(), pagetest.App(t), nil, w).Link(nil, link)
			if !strings.Contains(w.said, want) {
				t.Errorf("got %q, want %q", w.said, want)
			}
		})
	}
}

func TestChatIsSavedAtTheChosenPath(t *testing.T) {
	for name, c := range map[string]struct{ path, want string }{
		"in a folder":                     {filepath.Join(t.TempDir(), "a.md"), "Saved"},
		"in a folder that does not exist": {filepath.Join(t.TempDir(), "none", "a.md"), "The chat could not be saved: "},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, w := pagetest.App(t), &fakeWindows{}
				picker := pick.New(t.Context(), a, new(preferences.Store), func(_ context.Context, _ string, q system.Question) ([]string, error) {
					if q.Name != "A chat.md" || q.Kind != system.SaveFile {
						t.Errorf(`asked: got %+v; want Name "A chat.md" and Kind SaveFile`, q)
					}
					return []string{c.path}, nil
				}, func(string) {})
				New(t.Context(), a, picker, w).Save(a.NewWindow(""), host.SaveFile{Name: "A chat.md", Failed: "The chat could not be saved", Write: func(_ context.Context, f io.Writer) (string, error) {
					_, err := io.WriteString(f, "text")
					return "", err
				}})
				pagetest.Settle()
				if !strings.Contains(w.said, c.want) {
					t.Errorf("got %q, want %q", w.said, c.want)
				}
				if data, err := os.ReadFile(c.path); (err == nil) != (c.want == "Saved") || err == nil && string(data) != "text" {
					t.Errorf("the file has %q, %v", data, err)
				}
			})
		})
	}
}
