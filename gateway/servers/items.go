package servers

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Limits of resources and prompts.
const (
	maxItems    = 500     // of each kind and server
	maxItemText = 200_000 // bytes of one that is read
)

// readItems returns the resources and the prompts of a server over a connection to it.
func readItems(ctx context.Context, session *mcp.ClientSession, name protocol.ServerName, log *ring) (list []protocol.ServerItem, counts [2]int, err error) {
	c := session.InitializeResult().Capabilities
	if c == nil {
		return nil, counts, nil
	}
	var resources []*mcp.Resource
	var prompts []*mcp.Prompt
	if c.Resources != nil {
		resources, err = readPages(ctx, log, "resources", maxItems, func(ctx context.Context, cursor string) ([]*mcp.Resource, string, error) {
			r, err := session.ListResources(ctx, &mcp.ListResourcesParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return r.Resources, r.NextCursor, nil
		})
		if err != nil {
			return nil, counts, err
		}
	}
	if c.Prompts != nil {
		prompts, err = readPages(ctx, log, "prompts", maxItems, func(ctx context.Context, cursor string) ([]*mcp.Prompt, string, error) {
			r, err := session.ListPrompts(ctx, &mcp.ListPromptsParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return r.Prompts, r.NextCursor, nil
		})
	}
	for _, r := range resources[:min(len(resources), maxItems)] {
		list = append(list, protocol.ServerItem{
			Server: name, Kind: "resource", Name: r.Name, URI: r.URI, Title: format.Line(r.Title, maxTitle), Description: format.Line(r.Description, maxMessage), MimeType: r.MIMEType,
		})
	}
	for _, p := range prompts[:min(len(prompts), maxItems)] {
		list = append(list, promptItem(name, p))
	}
	return list, [2]int{len(resources), len(prompts)}, err
}

func promptItem(server protocol.ServerName, p *mcp.Prompt) protocol.ServerItem {
	item := protocol.ServerItem{Server: server, Kind: "prompt", Name: p.Name, Title: format.Line(p.Title, maxTitle), Description: format.Line(p.Description, maxMessage)}
	for _, a := range p.Arguments {
		if a == nil {
			continue
		}
		item.Arguments = append(item.Arguments, protocol.ServerArgument{Name: a.Name, Description: format.Line(a.Description, maxMessage), Required: a.Required})
	}
	return item
}

// countItems counts the resources and the prompts. A server that cannot list them has none.
func (s *server) countItems(ctx context.Context) error {
	session, err := s.connection()
	if err != nil {
		return err
	}
	_, counts, err := readItems(ctx, session, s.name, &s.log)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts = counts
	return err
}

// Items lists the resources and prompts of all connected servers. A server that does not answer is
// left out.
func (m *Manager) Items(ctx context.Context) (protocol.ServerItemsResult, error) {
	servers := m.list()
	lists := make([][]protocol.ServerItem, len(servers))
	var wg crash.Group
	for i, s := range servers {
		wg.Go(func() {
			session, err := s.connection()
			if err != nil {
				return
			}
			if lists[i], _, err = readItems(ctx, session, s.name, &s.log); err != nil {
				s.log.addf("Reading a list failed: %v", err)
			}
		})
	}
	wg.Wait()
	out := protocol.ServerItemsResult{Items: []protocol.ServerItem{}}
	for _, list := range lists {
		out.Items = append(out.Items, list...)
	}
	return out, nil
}

// Read reads the text of a resource or a prompt.
func (m *Manager) Read(ctx context.Context, p protocol.ServerReadParams) (protocol.ServerReadResult, error) {
	s, err := m.find(p.Server)
	if err != nil {
		return protocol.ServerReadResult{}, err
	}
	session, err := s.connection()
	if err != nil {
		return protocol.ServerReadResult{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	var parts []string
	switch {
	case (p.URI == "") == (p.Prompt == ""):
		return protocol.ServerReadResult{}, protocol.ErrBadRequest.With("give uri or prompt")
	case p.URI != "":
		parts, err = readResource(ctx, session, p.URI)
	default:
		parts, err = readPrompt(ctx, session, p)
	}
	if err != nil {
		if refused, ok := errors.AsType[*jsonrpc.Error](err); ok {
			err = protocol.ErrBadRequest.With("the server refused: " + format.Line(refused.Message, maxProblem))
		}
		return protocol.ServerReadResult{}, err
	}
	text := strings.Join(parts, "\n\n")
	if len(text) > maxItemText {
		text = format.Head(text, maxItemText) + fmt.Sprintf("\n[… %d bytes left out]", len(text)-maxItemText)
	}
	return protocol.ServerReadResult{Text: text}, nil
}

func readResource(ctx context.Context, session *mcp.ClientSession, uri string) (parts []string, err error) {
	r, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		return nil, err
	}
	for _, c := range r.Contents {
		if c == nil {
			continue
		}
		if c.Text == "" && len(c.Blob) > 0 {
			return nil, protocol.ErrBadRequest.With(fmt.Sprintf("%s is not text", format.Line(uri, maxTitle)))
		}
		parts = append(parts, c.Text)
	}
	return parts, nil
}

func readPrompt(ctx context.Context, session *mcp.ClientSession, p protocol.ServerReadParams) (parts []string, err error) {
	r, err := session.GetPrompt(ctx, &mcp.GetPromptParams{Name: p.Prompt, Arguments: p.Arguments})
	if err != nil {
		return nil, err
	}
	for _, m := range r.Messages {
		if m == nil {
			continue
		}
		text := textOf(m.Content)
		if m.Role == "assistant" {
			text = "Assistant: " + text
		}
		parts = append(parts, text)
	}
	return parts, nil
}
