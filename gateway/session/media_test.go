package session

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

func picture(t *testing.T) string {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func TestImagesAreKeptByTheirContent(t *testing.T) {
	g := start(t, llmtest.Say("A square."), llmtest.Say("Again."))
	data := picture(t)
	for _, name := range []string{"a.png", "b.png"} {
		res, err := g.Send(t.Context(), ann, protocol.ChatSendParams{SessionKey: chat, Message: "What is it?",
			Attachments: []protocol.Attachment{{Filename: name, MimeType: "image/jpeg", Data: data}}})
		if err != nil {
			t.Fatal(err)
		}
		g.end(res.RunID)
	}
	files, err := os.ReadDir(filepath.Join(g.home, "media"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	msgs, _ := g.store.Messages(t.Context(), chat, 0, 0)
	block := msgs[0].Content[1]
	if block.Data != "" || block.MimeType != "image/png" || block.MediaKey != "media/"+files[0].Name() || block.Filename != "a.png" {
		t.Errorf("%+v", block)
	}
	got, err := g.Media(t.Context(), protocol.MediaGetParams{Key: block.MediaKey})
	if err != nil || got.Data != data || got.MimeType != "image/png" {
		t.Error(got, err)
	}
	if seen := g.model.Requests()[1].Messages[0].Content[1]; seen.Data != data {
		t.Error("the model does not see it in the next message")
	}
	for _, key := range []string{"", "media/../fairlead.db", "../fairlead.db", "media/" + strings.Repeat("0", 64) + ".png"} {
		if _, err := g.Media(t.Context(), protocol.MediaGetParams{Key: key}); err == nil {
			t.Errorf("%q was read", key)
		}
	}
}

func TestWhatIsNoImageIsRefused(t *testing.T) {
	g := start(t)
	for name, data := range map[string]string{"text": base64.StdEncoding.EncodeToString([]byte("hello")), "base64": "%%%",
		"big": base64.StdEncoding.EncodeToString(make([]byte, maxImage+1))} {
		_, err := g.Send(t.Context(), ann, protocol.ChatSendParams{SessionKey: chat, Message: "x", Attachments: []protocol.Attachment{{Filename: "f", Data: data}}})
		if err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	g.noneOpen()
}
