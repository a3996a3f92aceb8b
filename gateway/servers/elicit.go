package servers

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/peer/display"
	"fairlead/gateway/protocol"
	"fairlead/gateway/servers/question"
)

const (
	// questionLimit is how long a question of a server waits for the person if the settings let
	// approvals wait forever.
	questionLimit = 15 * time.Minute
	maxMessage    = 2_000 // characters
)

// elicit asks the person what a server wants to know.
func (s *server) elicit(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	if r.Params == nil {
		return nil, errors.New("the question has no params")
	}
	limit := cmp.Or(time.Duration(s.m.o.Config.Get().Approvals.Timeout)*time.Millisecond, questionLimit)
	now := time.Now()
	call, report := s.calls.only()
	q := protocol.ServerQuestion{
		ID: protocol.NewID(), Server: s.name, Call: call, Message: display.Clip(r.Params.Message, maxMessage), CreatedAt: now.UnixMilli(), ExpiresAt: now.Add(limit).UnixMilli(),
	}
	if r.Params.Mode == "url" || r.Params.URL != "" {
		u, err := url.Parse(r.Params.URL)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			s.log.addf("A question was declined: its address is not a web address")
			return &mcp.ElicitResult{Action: "decline"}, nil
		}
		q.URL = u.String()
	} else {
		fields, err := question.Fields(r.Params.RequestedSchema)
		if err != nil {
			s.log.addf("A question was declined: %v", err)
			return &mcp.ElicitResult{Action: "decline"}, nil
		}
		q.Fields = fields
	}
	if report != nil {
		report(protocol.ToolProgress{CallID: call, Tail: "Waiting for your answer to the server " + string(s.name)})
	}
	a := s.m.questions.Ask(ctx, q)
	out := &mcp.ElicitResult{Action: a.Action}
	if a.Action == "accept" && q.URL == "" {
		if out.Content = a.Values; out.Content == nil {
			out.Content = map[string]any{}
		}
	}
	return out, nil
}
