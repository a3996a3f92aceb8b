package session

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/png"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/config"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/tooltest"
)

func square(t *testing.T) string {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func TestImagesAreStoredByTheirContent(t *testing.T) {
	g := start(t, llmtest.Say("A square."), llmtest.Say("Again."))
	data := square(t)
	for _, name := range []string{"a.png", "b.png"} {
		res, err := g.Send(t.Context(), ann, protocol.ChatSendParams{
			SessionKey: chat, Message: "What is it?",
			Attachments: []protocol.Attachment{{Filename: name, MimeType: "image/jpeg", Data: data}},
		})
		if err != nil {
			t.Fatal(err)
		}
		g.end(res.RunID)
	}
	files, err := os.ReadDir(filepath.Join(g.home, "media"))
	if err != nil || len(files) != 1 {
		t.Fatalf("got files %v, error %v, want one", files, err)
	}
	msgs, _ := g.store.Messages.List(t.Context(), chat, 0, 0)
	block := msgs[0].Content[1]
	if block.Data != "" || block.MimeType != "image/png" || block.MediaKey != "media/"+files[0].Name() || block.Filename != "a.png" {
		t.Errorf("got %+v, want a key in the place of the data", block)
	}
	got, err := g.Media(t.Context(), protocol.MediaGetParams{Key: block.MediaKey})
	if err != nil || got.Data != data || got.MimeType != "image/png" {
		t.Errorf("got %+v, error %v, want the picture", got, err)
	}
	if seen := g.model.Requests()[1].Messages[0].Content[1]; seen.Data != data {
		t.Error("the model does not see it in the next message")
	}
	for _, key := range []string{"", "media/../fairlead.db", "../fairlead.db", "media/" + strings.Repeat("0", 64) + ".png"} {
		if _, err := g.Media(t.Context(), protocol.MediaGetParams{Key: key}); err == nil {
			t.Errorf("%q: got no error, want one", key)
		}
	}
}

func TestOtherFilesThanImagesAreRefused(t *testing.T) {
	g := start(t)
	for name, data := range map[string]string{
		"text": base64.StdEncoding.EncodeToString([]byte("hello")), "base64": "%%%",
		"big": base64.StdEncoding.EncodeToString(make([]byte, 10<<20+1)),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := g.Send(t.Context(), ann, protocol.ChatSendParams{SessionKey: chat, Message: "x", Attachments: []protocol.Attachment{{Filename: "f", Data: data}}})
			if err == nil {
				t.Errorf("got no error, want one")
			}
		})
	}
	g.checkNoUnfinishedRuns()
}

func sendFile(t *testing.T, g *gateway, key protocol.SessionKey, a protocol.Attachment) {
	t.Helper()
	res, err := g.Send(t.Context(), ann, protocol.ChatSendParams{SessionKey: key, Message: "Look", Attachments: []protocol.Attachment{a}})
	if err != nil {
		t.Fatal(err)
	}
	g.end(res.RunID)
}

func noisePNG(t *testing.T, w, h int) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = byte(r.Uint32())
		if i%4 == 3 {
			img.Pix[i] = 255
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestTheModelSeesTheNewestPicturesMadeToFit(t *testing.T) {
	g := start(t, llmtest.Say("ok"))
	sendFile(t, g, chat, protocol.Attachment{Filename: "w.png", Data: base64.StdEncoding.EncodeToString(noisePNG(t, 2400, 20))})
	seen := g.model.Requests()[0].Messages[0].Content[1]
	if data, _ := base64.StdEncoding.DecodeString(seen.Data); seen.MimeType != "image/jpeg" || http.DetectContentType(data) != "image/jpeg" {
		t.Errorf("got %s for the model, want a JPEG", seen.MimeType)
	}
	msgs, _ := g.store.Messages.List(t.Context(), chat, 0, 0)
	block := msgs[0].Content[1]
	if block.MimeType != "image/png" {
		t.Errorf("got %+v, want the original", block)
	}
	if _, err := os.Stat(filepath.Join(g.home, "media", "fit", filepath.Base(block.MediaKey))); err != nil {
		t.Error(err)
	}
	many := make([]protocol.Message, 20+3)
	for i := range many {
		many[i].Content = protocol.Content{block}
	}
	out := g.Messages.media.WithImages(many)
	if out[2].Content[0].Type != protocol.BlockText || out[3].Content[0].Data == "" || many[0].Content[0].MediaKey == "" {
		t.Errorf("got %+v, want the older picture as text", out[2])
	}
}

func TestFilesGoWithTheLastChatThatShowsThem(t *testing.T) {
	g := start(t, llmtest.Say("1"), llmtest.Say("2"), llmtest.Say("3"))
	const other = protocol.SessionKey("agent:main:app:chat:2")
	if err := g.Messages.media.RemoveUnused(t.Context()); err != nil {
		t.Errorf("without a file: got error %v, want none", err)
	}
	if err := os.MkdirAll(filepath.Join(g.home, "media"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := g.Messages.media.RemoveUnused(t.Context()); err != nil {
		t.Errorf("with an empty folder: got error %v, want none", err)
	}
	both := protocol.Attachment{Filename: "a.png", Data: square(t)}
	sendFile(t, g, chat, both)
	sendFile(t, g, other, both)
	sendFile(t, g, other, protocol.Attachment{Filename: "w.png", Data: base64.StdEncoding.EncodeToString(noisePNG(t, 2400, 20))})
	if _, err := g.Reset(t.Context(), protocol.SessionParams{SessionKey: other}); err != nil {
		t.Fatal(err)
	}
	count := func(dir string) int {
		list, err := fs.Glob(os.DirFS(g.home), dir+"/*.*")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	purge := func(key protocol.SessionKey) {
		t.Helper()
		if _, err := g.Delete(t.Context(), protocol.SessionParams{SessionKey: key}); err != nil {
			t.Fatal(err)
		}
		g.removeUnusedFiles(t.Context())
		if _, err := g.store.Sessions.PurgeDeleted(t.Context(), now()+1); err != nil {
			t.Fatal(err)
		}
		g.removeUnusedFiles(t.Context())
	}
	g.removeUnusedFiles(t.Context())
	if count("media") != 2 || count("media/fit") != 1 || count("archive") != 1 {
		t.Fatalf("got %d files, %d small ones, %d archives, want 2, 1, 1", count("media"), count("media/fit"), count("archive"))
	}
	purge(other)
	if count("media") != 1 || count("media/fit") != 0 || count("archive") != 0 {
		t.Errorf("got %d files, %d small ones, %d archives, want 1, 0, 0", count("media"), count("media/fit"), count("archive"))
	}
	files := g.Messages.media.Upload()
	if _, err := files.Attachments(t.Context(), []protocol.Attachment{{Data: base64.StdEncoding.EncodeToString(noisePNG(t, 3, 3))}}); err != nil {
		t.Fatal(err)
	}
	g.removeUnusedFiles(t.Context())
	if count("media") != 2 {
		t.Error("a file was removed before its message came")
	}
	files.Close()
	purge(chat)
	if count("media") != 0 {
		t.Errorf("got %d files, want none", count("media"))
	}
}

func TestRecordingIsReadAfterItsSenderLeft(t *testing.T) {
	leave, left := context.WithCancel(t.Context())
	g := &gateway{t: t, home: t.TempDir(), cfg: config.Default(), tower: &tooltest.Machine{}}
	g.transcribe = func(ctx context.Context, _, _ string, _ []byte) (string, error) {
		left()
		return "Buy milk", ctx.Err()
	}
	g.open(llmtest.Say("1"))
	file := protocol.Attachment{Filename: "v.ogg", MimeType: "audio/ogg", Data: base64.StdEncoding.EncodeToString([]byte("OggS\x00"))}
	res, err := g.Send(leave, ann, protocol.ChatSendParams{SessionKey: chat, Message: "Listen", Attachments: []protocol.Attachment{file}})
	if err != nil {
		t.Fatal(err)
	}
	g.end(res.RunID)
	g.check("user: Listen\n[a recording v.ogg, transcribed]\nBuy milk", "assistant: 1")
}

func TestRecordingsAreReadAsText(t *testing.T) {
	wav := append([]byte("RIFF\x00\x00\x00\x00WAVEfmt "), make([]byte, 20)...)
	replies := []func() (string, error){
		func() (string, error) { return " Buy milk. ", nil },
		func() (string, error) { return "", protocol.ErrModelAuth.With("The key was refused.") },
	}
	g := &gateway{t: t, home: t.TempDir(), cfg: config.Default(), tower: &tooltest.Machine{}}
	g.transcribe = func(_ context.Context, name, kind string, data []byte) (string, error) {
		if name != "v.wav" || kind != "audio/wave" || !bytes.Equal(data, wav) {
			t.Errorf("got %s of type %s with %d bytes, want v.wav", name, kind, len(data))
		}
		reply := replies[0]
		replies = replies[1:]
		return reply()
	}
	g.open(llmtest.Say("1"), llmtest.Say("2"))
	file := protocol.Attachment{Filename: "v.wav", MimeType: "audio/wav", Data: base64.StdEncoding.EncodeToString(wav)}
	sendFile(t, g, chat, file)
	sendFile(t, g, chat, file)
	last := g.model.Requests()[1].Messages
	for i, want := range map[int]string{0: "[a recording v.wav, transcribed]\nBuy milk.", 2: "not transcribed: The key was refused.]"} {
		if got := last[i].Content.Text(); !strings.HasSuffix(got, want) {
			t.Errorf("message %d: got %q, want it to end in %q", i, got, want)
		}
	}
	msgs, _ := g.store.Messages.List(t.Context(), chat, 0, 0)
	if b := msgs[0].Content[1]; b.Type != protocol.BlockText || b.MimeType != "audio/wave" || b.Filename != "v.wav" || !strings.HasSuffix(b.MediaKey, ".wav") {
		t.Errorf("got %+v, want the text of v.wav", b)
	}
}
