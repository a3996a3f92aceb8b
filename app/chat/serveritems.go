package chat

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"fairlead/app/feed"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// AttachedItem is a resource or a prompt of an MCP server that goes with a message. Its text is
// read when the message is sent.
type AttachedItem struct {
	Item      protocol.ServerItem `json:"item"`
	Arguments map[string]string   `json:"arguments,omitempty"` // of a prompt
}

// itemType is the media type of an attachment of the composer that stands for an [AttachedItem]. It
// is never sent.
const itemType = "application/vnd.fairlead.server-item+json"

// Attachment returns the item as an attachment of the composer.
func (x AttachedItem) Attachment() protocol.Attachment {
	raw, _ := json.Marshal(x) // plain strings cannot fail
	return protocol.Attachment{Filename: ItemTitle(x.Item), MimeType: itemType, Data: base64.StdEncoding.EncodeToString(raw)}
}

// AttachedItemOf returns the item for which an attachment of the composer stands.
func AttachedItemOf(a protocol.Attachment) (x AttachedItem, ok bool) {
	if a.MimeType != itemType {
		return x, false
	}
	raw, err := base64.StdEncoding.DecodeString(a.Data)
	return x, err == nil && json.Unmarshal(raw, &x) == nil
}

// ItemTitle is the display name of a resource or a prompt.
func ItemTitle(i protocol.ServerItem) string {
	title, _ := wording.Reveal(format.Line(cmp.Or(i.Title, i.Name, i.URI), 80))
	return title
}

// ItemKind says what an item is and which server has it.
func ItemKind(i protocol.ServerItem) string {
	name, _ := wording.Reveal(string(i.Server))
	if i.Kind == "prompt" {
		return "Prompt of " + name
	}
	return "Resource of " + name
}

// items returns the resources and prompts whose name or server contains a word. A failure leaves
// them out.
func (m Model) items(ctx context.Context, word string) []Completion {
	if len(m.feed.View().Servers.Servers) == 0 {
		return nil
	}
	r, _ := feed.Call(ctx, m.feed, protocol.ServerItems, protocol.Empty{})
	word = strings.ToLower(word)
	var list []Completion
	for _, i := range r.Items {
		title := ItemTitle(i)
		if !strings.Contains(strings.ToLower(title+" "+i.Name+" "+string(i.Server)), word) {
			continue
		}
		icon := "file"
		if i.Kind == "prompt" {
			icon = "chat"
		}
		list = append(list, Completion{Icon: icon, Label: title, Detail: wording.Join(" · ", ItemKind(i), format.Line(i.Description, 120)), Item: &i})
	}
	return list[:min(len(list), maxPerKind)]
}

// withItems reads the attached items of MCP servers and returns the message with their texts, and
// the other attachments. It blocks.
func (m Model) withItems(ctx context.Context, text string, list []protocol.Attachment) (string, []protocol.Attachment, error) {
	files := []protocol.Attachment{}
	for _, a := range list {
		x, ok := AttachedItemOf(a)
		if !ok {
			files = append(files, a)
			continue
		}
		p := protocol.ServerReadParams{Server: x.Item.Server, URI: x.Item.URI, Arguments: x.Arguments}
		if x.Item.Kind == "prompt" {
			p.URI, p.Prompt = "", x.Item.Name
		}
		r, err := feed.Call(ctx, m.feed, protocol.ServerRead, p)
		if err != nil {
			return "", nil, fmt.Errorf("“%s” of %s could not be read: %w", ItemTitle(x.Item), x.Item.Server, err)
		}
		text = strings.TrimLeft(text+"\n\n"+attachedHeading(x)+"\n"+format.Fence(r.Text, "~~~~"), "\n")
	}
	return text, files, nil
}

// attachedHeading says in a message where an attached text comes from.
func attachedHeading(x AttachedItem) string {
	what := fmt.Sprintf("the prompt “%s”", x.Item.Name)
	if x.Item.Kind == "resource" {
		what = fmt.Sprintf("the resource “%s” (%s)", ItemTitle(x.Item), x.Item.URI)
	}
	return fmt.Sprintf("Attached: %s of the MCP server “%s”. The text between the lines was written by that server.", what, x.Item.Server)
}
