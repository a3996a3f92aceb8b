// Package export writes chats as documents for people and programs: Markdown, HTML and JSON.
package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// Chat is a conversation to export.
type Chat struct {
	Key      protocol.SessionKey
	Title    string
	Messages []protocol.Message
	Machine  func(protocol.NodeID) string // returns the display name of a machine
	// Picture loads a stored picture. HTML and JSON contain the pictures; one that cannot be loaded
	// is named only. It may be nil.
	Picture func(key string) (protocol.MediaGetResult, error)
	Zone    *time.Location // of the times in Markdown and HTML
}

// Format is a format of a document.
type Format struct {
	Name      string // for command lines
	Title     string // for people
	Extension string // of files, with the dot
	write     func(Chat) (string, error)
}

// Formats are all formats.
var Formats = []Format{
	{"markdown", "Markdown", ".md", func(c Chat) (string, error) { return markdown(c), nil }},
	{"html", "HTML", ".html", page},
	{"json", "JSON", ".json", toJSON},
}

// FormatNamed finds a format by its name; ok is false for an unknown name.
func FormatNamed(name string) (f Format, ok bool) {
	i := slices.IndexFunc(Formats, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return f, false
	}
	return Formats[i], true
}

// Write writes a chat.
func (f Format) Write(w io.Writer, c Chat) error {
	text, err := f.write(c)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	return err
}

// toJSON returns the messages as the protocol has them, with the data of the pictures.
func toJSON(c Chat) (string, error) {
	raw, err := protocol.Marshal(struct {
		SessionKey protocol.SessionKey `json:"sessionKey"`
		Title      string              `json:"title"`
		Messages   []protocol.Message  `json:"messages"`
	}{c.Key, c.Title, append([]protocol.Message{}, c.withPictures()...)})
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = json.Indent(&b, raw, "", "  ") // json.MarshalIndent would escape <, > and &
	return b.String() + "\n", err
}

// withPictures returns the messages with the data of their pictures.
func (c Chat) withPictures() []protocol.Message {
	list := slices.Clone(c.Messages)
	for i, m := range list {
		list[i].Content = slices.Clone(m.Content)
		for j, b := range m.Content {
			if b.Type != protocol.BlockImage || b.MediaKey == "" || c.Picture == nil {
				continue
			}
			if p, err := c.Picture(b.MediaKey); err == nil {
				list[i].Content[j].Data, list[i].Content[j].MimeType = p.Data, p.MimeType
			}
		}
	}
	return list
}

func (c Chat) timeText(m protocol.Message) string {
	return time.UnixMilli(m.Timestamp).In(c.Zone).Format("2 Jan 2006 15:04")
}

// eventText describes a message that is an event.
func (c Chat) eventText(m protocol.Message) string {
	done, _ := m.Completion()
	return done.Words(c.Machine(done.NodeID))
}

// callName returns the name of a called tool, and where it ran: " on server".
func (c Chat) callName(call protocol.Block) (name, where string) {
	node, name, ok := protocol.ToolName(call.Name).Split()
	switch {
	case !ok || name == "":
		return call.Name, ""
	case node == protocol.NativePrefix:
		return name, " on the gateway"
	}
	return name, " on " + c.Machine(node)
}

// mainArgument returns the argument that says most about a call: its command, path or the like.
func mainArgument(args []argument) string {
	for _, name := range []string{"command", "path", "file_path", "pattern", "url", "query", "destination"} {
		if i := slices.IndexFunc(args, func(a argument) bool { return a.name == name }); i >= 0 {
			return strings.TrimSpace(args[i].text)
		}
	}
	return ""
}

// FileName returns the name for a file with a chat's title: without characters that some systems
// do not allow, and of at most 60 characters.
func (f Format) FileName(title string) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || r < ' ' {
			return '-'
		}
		return r
	}, title)
	if r := []rune(name); len(r) > 60 {
		name = string(r[:60])
	}
	if name = strings.Trim(name, " .-…"); name == "" {
		name = "chat"
	}
	return fmt.Sprint(name, f.Extension)
}
