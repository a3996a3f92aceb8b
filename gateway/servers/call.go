package servers

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/nodes"
	"fairlead/gateway/peer/display"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// Limits of a result.
const (
	maxImages     = 5 << 20 // bytes of all pictures
	maxStructured = 1 << 20 // bytes; the text has it, too
	maxTail       = 4_000   // characters
)

// result is the result of a call, as the journal stores it.
type result struct {
	Content    protocol.Content `json:"content"`
	Structured json.RawMessage  `json:"structuredContent,omitempty"`
}

// Call runs a tool of a server. inv.Tool is its bare name, as models see it. Its failure is a
// *nodes.ToolError; protocol.ErrUnavailable means that the connection was lost, and the outcome is
// unknown. When ctx ends, the server is told, and Call returns the cause.
func (b Toolbox) Call(ctx context.Context, server protocol.NodeID, inv protocol.ToolInvoke, progress func(protocol.ToolProgress)) (json.RawMessage, error) {
	t, _, err := b.lookup(protocol.NewToolName(server, inv.Tool))
	if err != nil {
		return nil, err
	}
	s, err := b.m.find(protocol.ServerName(server))
	if err != nil {
		return nil, err
	}
	session, err := s.connected()
	if err != nil {
		return nil, err
	}
	s.calls.begin(inv.CallID, progress)
	defer s.calls.end(inv.CallID)
	params := &mcp.CallToolParams{Name: t.name, Arguments: inv.Args}
	params.SetProgressToken(string(inv.CallID))
	res, err := session.CallTool(ctx, params)
	if err != nil {
		return nil, callError(ctx, s.name, err)
	}
	out := convert(res)
	if res.IsError {
		return nil, &nodes.ToolError{Text: tool.Shorten(strings.TrimSpace(out.Content.Text()))}
	}
	return protocol.Marshal(out)
}

// callError returns the error of a call that has no result.
func callError(ctx context.Context, server protocol.ServerName, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if refused, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return &nodes.ToolError{Text: tool.Shorten(refused.Message)}
	}
	return protocol.ErrUnavailable.With(fmt.Sprintf("the connection to the MCP server %s was lost: %s", server, display.Line(err.Error(), maxProblem)))
}

// calls are the calls in progress, with the receivers of their progress.
type calls struct {
	mu     sync.Mutex // guards active
	active map[protocol.CallID]func(protocol.ToolProgress)
}

// begin makes a call known, so that its progress and its questions find it.
func (c *calls) begin(id protocol.CallID, progress func(protocol.ToolProgress)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.active == nil {
		c.active = make(map[protocol.CallID]func(protocol.ToolProgress))
	}
	c.active[id] = progress
}

func (c *calls) end(id protocol.CallID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.active, id)
}

// receiver returns the receiver of a call's progress, or nil.
func (c *calls) receiver(id protocol.CallID) func(protocol.ToolProgress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.active[id]
}

// only returns the call in progress if there is exactly one.
func (c *calls) only() (id protocol.CallID, progress func(protocol.ToolProgress)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.active) == 1 {
		for id, progress = range c.active {
			return id, progress
		}
	}
	return "", nil
}

// progress passes on the progress of a call.
func (s *server) progress(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
	token, _ := r.Params.ProgressToken.(string)
	report := s.calls.receiver(protocol.CallID(token))
	if report == nil {
		return
	}
	text := fmt.Sprintf("%g", r.Params.Progress)
	if r.Params.Total > 0 {
		text = fmt.Sprintf("%g of %g", r.Params.Progress, r.Params.Total)
	}
	if r.Params.Message != "" {
		text += ": " + r.Params.Message
	}
	report(protocol.ToolProgress{CallID: protocol.CallID(token), Tail: display.Line(text, maxTail)})
}

// convert converts a result. Its texts together have at most the length that models get.
func convert(res *mcp.CallToolResult) result {
	var out result
	var texts []string
	images := 0
	for _, c := range res.Content {
		if i, ok := c.(*mcp.ImageContent); ok && images+len(i.Data) <= maxImages && len(i.Data) > 0 && strings.HasPrefix(i.MIMEType, "image/") {
			images += len(i.Data)
			out.Content = append(out.Content, protocol.Block{Type: protocol.BlockImage, Data: base64.StdEncoding.EncodeToString(i.Data), MimeType: i.MIMEType})
			continue
		}
		texts = append(texts, textOf(c))
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
			return fmt.Sprintf("[file %s, %s, %d bytes, left out]", c.Resource.URI, c.Resource.MIMEType, len(c.Resource.Blob))
		}
	case *mcp.ResourceLink:
		return strings.TrimSpace(fmt.Sprintf("%s: %s %s", c.Name, c.URI, c.Description))
	case *mcp.ImageContent:
		return fmt.Sprintf("[picture, %s, %d bytes, left out]", c.MIMEType, len(c.Data))
	case *mcp.AudioContent:
		return fmt.Sprintf("[sound, %s, %d bytes, left out]", c.MIMEType, len(c.Data))
	}
	return "[a part of an unknown kind, left out]"
}
