package files

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"image"
	"image/png"
	"strings"
	"testing"
	"testing/synctest"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/gateway/protocol"
)

func names(list []Entry) string {
	var out []string
	for _, e := range list {
		n := e.Path
		if e.Dir {
			n += "/"
		}
		out = append(out, n)
	}
	return strings.Join(out, " ")
}

// disk serves the agent's files and a machine's tools.
func disk(files map[string]string) func(*feedtest.Gateway) {
	return func(f *feedtest.Gateway) {
		feedtest.On(f, protocol.WorkspaceList, func(p protocol.WorkspaceListParams) (protocol.WorkspaceListResult, error) {
			return protocol.WorkspaceListResult{Files: []string{"SOUL.md", "agents.md"}, Directories: []string{"memory/"}}, nil
		})
		feedtest.On(f, protocol.WorkspaceRead, func(p protocol.WorkspaceReadParams) (any, error) {
			text, ok := files[p.Path]
			if !ok {
				return nil, protocol.ErrNotFound.With("there is no such file")
			}
			return protocol.WorkspaceReadResult{Path: p.Path, Content: text, Encoding: p.Encoding}, nil
		})
		feedtest.On(f, protocol.WorkspaceWrite, func(p protocol.WorkspaceWriteParams) (protocol.WorkspaceWriteResult, error) {
			files[p.Path] = *p.Content + p.Encoding
			return protocol.WorkspaceWriteResult{}, nil
		})
		feedtest.On(f, protocol.WorkspaceDelete, func(p protocol.WorkspaceDeleteParams) (protocol.WorkspaceDeleteResult, error) {
			delete(files, p.Path)
			return protocol.WorkspaceDeleteResult{}, nil
		})
		feedtest.On(f, protocol.InvokeTool, func(p protocol.ToolInvokeParams) (protocol.ToolInvokeResult, error) {
			switch p.Tool {
			case "nas__Glob":
				return protocol.ToolInvokeResult{Result: json.RawMessage(`{"basePath":"/srv","matches":["/srv/new.txt","src/a/b.go","src/main.go","Readme"],"truncated":true,"total":70000}`)}, nil
			case "program__Read":
				return protocol.ToolInvokeResult{}, protocol.ErrInternal.With("Binary file: a.out (application/x-executable, 30 bytes) — not a text or image file")
			case "nas__Read":
				return protocol.ToolInvokeResult{Result: json.RawMessage(`{"content":"     1\tone\n     2\ttwo\tx"}`)}, nil
			case "bomb__Read":
				return protocol.ToolInvokeResult{Result: json.RawMessage(`{"content":[{"type":"image","data":"` + pngOf(65536, 65536) + `","mimeType":"image/png"}]}`)}, nil
			case "pic__Read":
				return protocol.ToolInvokeResult{Result: json.RawMessage(`{"content":[{"type":"text","text":"x"},{"type":"image","data":"` + pngOf(3, 2) + `","mimeType":"image/png"}]}`)}, nil
			}
			return protocol.ToolInvokeResult{}, protocol.ErrUnavailable.With("the machine is offline")
		})
	}
}

func TestFilesOfAMachineAreFoldersThatCanBeEntered(t *testing.T) {
	feedtest.Run(t, feed.New, disk(nil), func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		fs := newModel(a)
		look := func(want string) {
			t.Helper()
			synctest.Wait()
			if got := names(fs.Value.Get().Entries); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		fs.Open("nas")
		look("src/ new.txt Readme")
		if note := fs.Value.Get().Note; note != "Showing the newest 4 of 70000 files." {
			t.Errorf("got %v, want %q", note, "Showing the newest 4 of 70000 files.")
		}
		fs.Sort(Sort{By: ByTime, Down: true})
		look("new.txt src/ Readme")
		fs.Enter("src")
		look("src/a/ src/main.go")
		fs.SetFilter("B GO")
		look("src/a/b.go")
		fs.Up()
		look("new.txt src/ Readme")
		// once for the filter: it does not list all
		if n := len(f.Called(protocol.InvokeTool.Name)); n != 2 {
			t.Errorf("the machine was asked %d times, want 2", n)
		}
		fs.Open("gone")
		synctest.Wait()
		if v := fs.Value.Get(); v.Problem != "The machine is offline" {
			t.Errorf(`problem: got %q, want "The machine is offline"`, v.Problem)
		}
	})
}

func TestFilterSearchesBeyondTheListedFiles(t *testing.T) {
	feedtest.Run(t, feed.New, disk(nil), func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		f.Mu.Lock()
		f.Answers[protocol.InvokeTool.Name] = func(raw json.RawMessage) (any, error) {
			if !strings.Contains(string(raw), "[oO][lL][dD]") {
				return protocol.ToolInvokeResult{Result: json.RawMessage(`{"basePath":"/srv","matches":["/srv/new.txt"],"truncated":true,"total":70000}`)}, nil
			}
			return protocol.ToolInvokeResult{Result: json.RawMessage(`{"basePath":"/srv","matches":["/srv/a/OLD.txt","/srv/a/old.go"]}`)}, nil
		}
		f.Mu.Unlock()
		fs := newModel(a)
		fs.Open("nas")
		synctest.Wait()
		fs.SetFilter("a/old txt")
		synctest.Wait()
		if v := fs.Value.Get(); names(v.Entries) != "a/OLD.txt" || v.Note != "" {
			t.Errorf(`got %s, %q; want names of Entries "a/OLD.txt" and an empty Note`, names(v.Entries), v.Note)
		}
	})
}

func TestFilterTextIsLiteral(t *testing.T) {
	for filter, want := range map[string]string{
		"": "", " / ": "", "ab": "{**/*[aA][bB]*,**/*[aA][bB]*/**}", "x a-1.{b}*": "{**/*[aA]?1??[bB]??*,**/*[aA]?1??[bB]??*/**}", "src/été": "{**/*[éÉ][tT][éÉ]*,**/*[éÉ][tT][éÉ]*/**}",
	} {
		if got := globOf(filter); got != want {
			t.Errorf("%q: %s, want %s", filter, got, want)
		}
	}
}

func TestGrantedFolderCanBeFiltered(t *testing.T) {
	feedtest.Run(t, feed.New, fileMachine(new(notes)), func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		f.Mu.Lock()
		f.Answers[protocol.InvokeTool.Name] = func(raw json.RawMessage) (any, error) {
			if !strings.Contains(string(raw), `"path":"/media/photos"`) {
				return protocol.ToolInvokeResult{Result: json.RawMessage(`{"basePath":"/srv","matches":["/srv/cat.txt"]}`)}, nil
			}
			return protocol.ToolInvokeResult{Result: json.RawMessage(`{"basePath":"/media/photos","matches":["/media/photos/2024/cat.jpg"]}`)}, nil
		}
		f.Mu.Unlock()
		fs := newModel(a)
		fs.Open("nas")
		synctest.Wait()
		fs.Enter("/media/photos")
		fs.SetFilter("cat")
		synctest.Wait()
		if got, want := names(fs.Value.Get().Entries), "/media/photos/2024/cat.jpg"; got != want {
			t.Errorf("names: got %q, want %q", got, want)
		}
	})
}

func TestFileIsShownWithoutTheLineNumbersOfTheTool(t *testing.T) {
	feedtest.Run(t, feed.New, disk(nil), func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		fs := newModel(a)
		fs.Open("nas")
		fs.Look("src/main.go")
		synctest.Wait()
		if v := fs.Value.Get(); v.File == nil || v.File.Text != "one\ntwo\tx" || v.File.Editable {
			t.Errorf(`got %+v; want File.Text "one\ntwo\tx" and not File.Editable`, v.File)
		}
		fs.Up()
		if fs.Value.Get().File != nil {
			t.Error("the file is still shown")
		}
		fs.Open("pic")
		fs.Look("a.png")
		synctest.Wait()
		if v := fs.Value.Get(); v.File == nil || v.File.Image == nil || v.File.Image.Bounds() != image.Rect(0, 0, 3, 2) {
			t.Errorf("got %+v; want File.Image.Bounds %v", v.File, image.Rect(0, 0, 3, 2))
		}
		fs.Open("bomb")
		fs.Look("a.png")
		synctest.Wait()
		if v := fs.Value.Get(); v.File == nil || v.File.Image != nil || v.File.Problem != "The picture is too large (65536 × 65536 pixels)" {
			t.Errorf(`got %+v; want no File.Image and File.Problem "The picture is too large (65536 × 65536 pixels)"`, v.File)
		}
	})
}

// pngOf returns a PNG in base64 whose header has this size; it contains a pixel or two.
func pngOf(w, h uint32) string {
	var b bytes.Buffer
	png.Encode(&b, image.NewGray(image.Rect(0, 0, int(min(w, 3)), int(min(h, 2)))))
	file := b.Bytes()
	binary.BigEndian.PutUint32(file[16:], w)
	binary.BigEndian.PutUint32(file[20:], h)
	binary.BigEndian.PutUint32(file[29:], crc32.ChecksumIEEE(file[12:29]))
	return base64.StdEncoding.EncodeToString(file)
}

func TestAgentFilesAreEditedAndRestored(t *testing.T) {
	files := map[string]string{"SOUL.md": "be kind"}
	feedtest.Run(t, feed.New, disk(files), func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		fs := newModel(a)
		fs.Open("")
		fs.Look("SOUL.md")
		synctest.Wait()
		v := fs.Value.Get()
		if names(v.Entries) != "memory/ AGENTS.md agents.md HEARTBEAT.md IDENTITY.md MEMORY.md SOUL.md TOOLS.md USER.md" || v.File == nil || v.File.Text != "be kind" || !v.File.Editable {
			t.Errorf("got %+v; want the agent's files, and SOUL.md open to edit with \"be kind\"", v)
		}
		if err := fs.Agent.SaveOver(t.Context(), "SOUL.md", "be brief", files["SOUL.md"], true); err != nil || files["SOUL.md"] != "be brief" {
			t.Errorf(`got %v, %v; want no error and files["SOUL.md"] "be brief"`, err, files)
		}
		if err := fs.Agent.SaveOver(t.Context(), " ", "x", "", false); err == nil {
			t.Error("a file without a name was saved")
		}
		undo, err := fs.Agent.Delete(t.Context(), "SOUL.md")
		if err != nil || len(files) != 0 {
			t.Fatalf("got %v, %v; want no files and no error", err, files)
		}
		undo()
		synctest.Wait()
		if files["SOUL.md"] != "be briefbase64" { // byte for byte, as it was read
			t.Errorf(`got %v; want files["SOUL.md"] "be briefbase64"`, files)
		}
		if _, err := fs.Agent.Delete(t.Context(), "none"); err == nil {
			t.Error("a file that is not there was deleted")
		}
	})
}

func TestBinaryFileIsNotAProblem(t *testing.T) {
	feedtest.Run(t, feed.New, disk(nil), func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		fs := newModel(a)
		fs.Open("program")
		fs.Look("a.out")
		synctest.Wait()
		if got := fs.Value.Get().File; got == nil || !got.Binary || got.Problem != "" {
			t.Errorf("got %+v; want Binary and an empty Problem", got)
		}
	})
}
