package files

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/gateway/protocol"
)

func TestMissingAgentFileStartsWithTheDefaultText(t *testing.T) {
	files := map[string]string{"SOUL.md": "be kind"}
	feedtest.Run(t, feed.New, disk(files), func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		feedtest.On(f, protocol.WorkspaceRead, func(p protocol.WorkspaceReadParams) (any, error) {
			if text, ok := files[p.Path]; ok && !p.Default {
				return protocol.WorkspaceReadResult{Path: p.Path, Content: text}, nil
			}
			if p.Default {
				return protocol.WorkspaceReadResult{Path: p.Path, Content: "as new"}, nil
			}
			return nil, protocol.ErrNotFound.With("there is no such file")
		})
		fs := newModel(a)
		fs.Open("")
		fs.Look("USER.md")
		synctest.Wait()
		v := fs.Value.Get()
		if v.File == nil || v.File.Text != "as new" || !v.File.Missing || !v.File.Editable {
			t.Errorf(`got %+v; want File.Text "as new", File.Missing and File.Editable`, v.File)
		}
		fs.Look("notes.md")
		synctest.Wait()
		if v := fs.Value.Get(); v.File == nil || v.File.Problem == "" {
			t.Errorf("a file that nobody misses opens as %+v", v.File)
		}
	})
}

func TestFileThatSomebodyElseChangedIsNotOverwritten(t *testing.T) {
	files := map[string]string{"SOUL.md": "theirs"}
	feedtest.Run(t, feed.New, disk(files), func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		fs := newModel(a)
		var c *feed.Conflict
		if err := fs.Agent.SaveOver(t.Context(), "SOUL.md", "mine", "as it was", true); !errors.As(err, &c) || c.Current != "theirs" || files["SOUL.md"] != "theirs" {
			t.Errorf(`got %v, %v; want an error of type *feed.Conflict, Current "theirs" and files["SOUL.md"] "theirs"`, err, files)
		}
		if err := fs.Agent.SaveOver(t.Context(), "SOUL.md", "mine", "", false); !errors.As(err, &c) {
			t.Errorf("a file that was made meanwhile: %v", err)
		}
		if err := fs.Agent.SaveOver(t.Context(), "SOUL.md", "mine", "theirs", true); err != nil || files["SOUL.md"] != "mine" {
			t.Errorf(`got %v, %v; want no error and files["SOUL.md"] "mine"`, err, files)
		}
		if err := fs.Agent.SaveOver(t.Context(), "gone.md", "mine", "x", true); !errors.As(err, &c) || !c.Deleted {
			t.Errorf("a file that was deleted meanwhile: %v", err)
		}
		if err := fs.Agent.SaveOver(t.Context(), "new.md", "mine", "", false); err != nil || files["new.md"] != "mine" {
			t.Errorf(`got %v, %v; want no error and files["new.md"] "mine"`, err, files)
		}
		before := a.Changed.Get().Files
		f.Change(protocol.Change{Kind: protocol.ChangeFile, Path: "agents/main/SOUL.md"})
		if a.Changed.Get().Files != before+1 {
			t.Error("a change on the disk is not told")
		}
	})
}

func TestLongAgentFilesShowAWarning(t *testing.T) {
	for _, c := range []struct {
		path string
		n    int
		want string
		over bool
	}{
		{"SOUL.md", 100, "", false},
		{"SOUL.md", fileCap - 10, "that the agent reads", false},
		{"memory/2026-03-28.md", fileCap + 7, "7 bytes too long", true},
		{"skills/x/SKILL.md", 10 * fileCap, "", false},
		{"poem.txt", 10 * fileCap, "", false},
	} {
		t.Run(c.path, func(t *testing.T) {
			if words, over := lengthWarning(c.path, strings.Repeat("x", c.n)); over != c.over || !strings.Contains(words, c.want) || (c.want == "") != (words == "") {
				t.Errorf("%s of %d bytes: %q, %v", c.path, c.n, words, over)
			}
		})
	}
}
