package state

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"image"
	"strings"

	"fairlead/gateway/peer/picture"
	"fairlead/gateway/protocol"
)

// OpenFile is an opened file.
type OpenFile struct {
	Path      string
	Text      string
	Image     image.Image // instead of Text
	Problem   string      // reason why it cannot be shown
	Truncated bool        // Text is incomplete
	Editable  bool
	Missing   bool // the file does not exist: Text is the default content for a new agent
}

// Limits for showing a machine's file.
const (
	previewLines = 5000
	previewSide  = 2560 // maximum side of a picture, in pixels
)

// Look opens a file for reading.
func (f *Files) Look(p string) {
	f.app.startRequest(func(ctx context.Context) {
		place := f.Value.Get().Place
		file, err := f.read(ctx, place, p)
		if err != nil {
			file = OpenFile{Path: p, Problem: sentence(err)}
		}
		f.Value.Update(func(v FilesView) FilesView {
			if v.Place == place {
				v.File = &file
			}
			return v
		})
	})
}

func (f *Files) read(ctx context.Context, place protocol.NodeID, p string) (OpenFile, error) {
	file := OpenFile{Path: p}
	if place == "" {
		return f.open(ctx, p)
	}
	var out struct {
		Content   json.RawMessage
		Truncated bool
	}
	if err := invokeTool(ctx, f.app, place, "Read", map[string]any{"path": p, "limit": previewLines}, &out); err != nil {
		return file, err
	}
	var numbered string
	if json.Unmarshal(out.Content, &numbered) == nil {
		file.Text, file.Truncated = withoutLineNumbers(numbered), out.Truncated || strings.Count(numbered, "\n") >= previewLines-1
		return file, nil
	}
	var blocks protocol.Content
	if err := json.Unmarshal(out.Content, &blocks); err != nil {
		return file, err
	}
	for _, b := range blocks {
		if b.Type == "image" && b.Data != "" {
			data, err := base64.StdEncoding.DecodeString(b.Data)
			if err != nil {
				return file, err
			}
			pic, err := picture.Open(data)
			if err != nil {
				return file, err
			}
			file.Image = pic.Fit(previewSide)
			return file, nil
		}
	}
	file.Text = blocks.Text()
	return file, nil
}

// withoutLineNumbers removes the line numbers that the Read tool puts before each line, with a tab.
func withoutLineNumbers(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if n, rest, ok := strings.Cut(l, "\t"); ok && strings.Trim(n, " 0123456789") == "" {
			lines[i] = rest
		}
	}
	return strings.Join(lines, "\n")
}
