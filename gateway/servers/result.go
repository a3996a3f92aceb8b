package servers

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/picture"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// Limits of a result.
const (
	maxImages     = 5 << 20 // bytes of all pictures
	maxStructured = 1 << 20 // bytes; the text has it, too
)

// result is the result of a call, as the journal stores it.
type result struct {
	Content    protocol.Content `json:"content"`
	Structured json.RawMessage  `json:"structuredContent,omitempty"`
}

// convert converts a result. Its texts together have at most the length that models get.
func convert(res *mcp.CallToolResult) result {
	var out result
	var texts []string
	images := 0
	for _, c := range res.Content {
		i, ok := c.(*mcp.ImageContent)
		if !ok {
			texts = append(texts, textOf(c))
			continue
		}
		block, err := pictureOf(i, maxImages-images)
		if err != nil {
			texts = append(texts, fmt.Sprintf("[picture, %s, %d bytes, left out: %v]", format.Line(i.MIMEType, maxTitle), len(i.Data), err))
			continue
		}
		images += len(i.Data)
		out.Content = append(out.Content, block)
	}
	if res.StructuredContent != nil {
		if raw, err := protocol.Marshal(res.StructuredContent); err == nil && len(raw) <= maxStructured {
			out.Structured = raw
		}
		if len(res.Content) == 0 {
			texts = append(texts, string(out.Structured))
		}
	}
	if text := strings.Join(texts, "\n"); text != "" || images == 0 {
		if text == "" {
			text = "(no result)"
		}
		out.Content = append(protocol.Content{protocol.Text(tool.Shorten(text))}, out.Content...)
	}
	return out
}

// modelFormats are the formats of pictures that models accept.
var modelFormats = []string{"png", "jpeg", "gif", "webp"}

// pictureOf returns a picture of at most limit bytes for a model. One that a model cannot read
// would make its provider refuse the chat from then on.
func pictureOf(i *mcp.ImageContent, limit int) (protocol.Block, error) {
	if len(i.Data) > limit {
		return protocol.Block{}, fmt.Errorf("the pictures of a result may have %d MiB", maxImages>>20)
	}
	_, format, err := picture.Config(i.Data)
	if err == nil && !slices.Contains(modelFormats, format) {
		return protocol.Block{}, errors.New("models cannot read this format")
	}
	if err == nil {
		_, err = picture.Open(i.Data)
	}
	if err != nil {
		return protocol.Block{}, errors.New("it is damaged, or not a picture")
	}
	return protocol.Block{Type: protocol.BlockImage, Data: base64.StdEncoding.EncodeToString(i.Data), MimeType: "image/" + format}, nil
}

// textOf returns a part of a result as text.
func textOf(c mcp.Content) string {
	switch c := c.(type) {
	case *mcp.TextContent:
		return c.Text
	case *mcp.EmbeddedResource:
		if c.Resource != nil && c.Resource.Text != "" {
			return c.Resource.Text
		}
		if c.Resource != nil {
			return omissionNote("file "+c.Resource.URI, c.Resource.MIMEType, len(c.Resource.Blob))
		}
	case *mcp.ResourceLink:
		if c.URI == "" {
			return "[link without an address, left out]"
		}
		return strings.TrimSpace(fmt.Sprintf("%s: %s %s", cmp.Or(c.Title, c.Name, "link"), c.URI, c.Description))
	case *mcp.ImageContent:
		return omissionNote("picture", c.MIMEType, len(c.Data))
	case *mcp.AudioContent:
		return omissionNote("sound", c.MIMEType, len(c.Data))
	}
	return "[a part of an unknown kind, left out]"
}

// omissionNote names a part of a result that is left out.
func omissionNote(what, mime string, size int) string {
	if mime != "" {
		what += ", " + format.Line(mime, maxTitle)
	}
	return fmt.Sprintf("[%s, %d bytes, left out]", what, size)
}
