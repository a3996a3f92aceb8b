package servers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/peer/display"
	"fairlead/gateway/protocol"
)

// Limits of resources and prompts.
const (
	maxItems    = 500     // of each kind and server
	maxItemText = 200_000 // bytes of one that is read
)

// items returns the resources and the prompts of the server.
func (s *server) items(ctx context.Context) (list []protocol.ServerItem, counts [2]int, err error) {
	s.mu.Lock()
	session := s.session
	s.mu.Unlock()
	if session == nil || session.InitializeResult().Capabilities == nil {
		return nil, counts, nil
	}
	ctx, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	c := session.InitializeResult().Capabilities
	if c.Resources != nil {
		for r, err := range session.Resources(ctx, nil) {
			if err != nil {
				return nil, counts, fmt.Errorf("list the resources: %w", err)
			}
			if counts[0]++; counts[0] > maxItems {
				break
			}
			list = append(list, protocol.ServerItem{
				Server: s.name, Kind: "resource", Name: r.Name, URI: r.URI, Title: display.Line(r.Title, maxTitle), Description: display.Line(r.Description, maxMessage), MimeType: r.MIMEType,
			})
		}
	}
	if c.Prompts == nil {
		return list, counts, nil
	}
	for p, err := range session.Prompts(ctx, nil) {
		if err != nil {
			return nil, counts, fmt.Errorf("list the prompts: %w", err)
		}
		if counts[1]++; counts[1] > maxItems {
			break
		}
		list = append(list, promptItem(s.name, p))
	}
	return list, counts, nil
}

func promptItem(server protocol.ServerName, p *mcp.Prompt) protocol.ServerItem {
	item := protocol.ServerItem{Server: server, Kind: "prompt", Name: p.Name, Title: display.Line(p.Title, maxTitle), Description: display.Line(p.Description, maxMessage)}
	for _, a := range p.Arguments {
		item.Arguments = append(item.Arguments, protocol.ServerArgument{Name: a.Name, Description: display.Line(a.Description, maxMessage), Required: a.Required})
	}
	return item
}

// countItems counts the resources and the prompts. A server that cannot list them has none.
func (s *server) countItems(ctx context.Context) error {
	_, counts, err := s.items(ctx)
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
	var wg sync.WaitGroup
	for i, s := range servers {
		wg.Go(func() {
			var err error
			if lists[i], _, err = s.items(ctx); err != nil {
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
	session, err := s.connected()
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
			err = protocol.ErrBadRequest.With("the server refused: " + display.Line(refused.Message, maxProblem))
		}
		return protocol.ServerReadResult{}, err
	}
	text := strings.Join(parts, "\n\n")
	if len(text) > maxItemText {
		text = strings.ToValidUTF8(text[:maxItemText], "") + fmt.Sprintf("\n[… %d bytes left out]", len(text)-maxItemText)
	}
	return protocol.ServerReadResult{Text: text}, nil
}

func readResource(ctx context.Context, session *mcp.ClientSession, uri string) (parts []string, err error) {
	r, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		return nil, err
	}
	for _, c := range r.Contents {
		if c.Text == "" && len(c.Blob) > 0 {
			return nil, protocol.ErrBadRequest.With(fmt.Sprintf("%s is not text", display.Line(uri, maxTitle)))
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
		text := textOf(m.Content)
		if m.Role == "assistant" {
			text = "Assistant: " + text
		}
		parts = append(parts, text)
	}
	return parts, nil
}
