package servers

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
	"fairlead/gateway/servers/form"
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
	call, report := s.calls.only()
	input, err := inputOf(s.name, r.Params)
	if err != nil {
		s.log.addf("A question was declined: %v", err)
		return &mcp.ElicitResult{Action: "decline"}, nil
	}
	if report != nil {
		report(protocol.ToolProgress{CallID: call, Tail: "Waiting for your answer to the server " + string(s.name)})
	}
	var values map[string]any
	end, err := s.m.o.Questions.AskFor(ctx, protocol.Question{
		Kind: protocol.AskInput, CallID: call, AskedBy: protocol.AskedBy{Kind: protocol.AskedByServer, Name: string(s.name)}, Input: input,
	}, question.Terms{
		Expires: cmp.Or(time.Duration(s.m.o.Config.Get().Approvals.Timeout)*time.Millisecond, questionLimit),
		Limit:   limitOf(s.name),
		Apply: func(ctx context.Context, who auth.Principal, q *protocol.Question, p protocol.QuestionAnswerParams) error {
			did := map[string]string{protocol.DecisionAllow: "answered", protocol.DecisionDeny: "declined", protocol.DecisionDismiss: "dismissed"}[p.Decision]
			if p.Decision == protocol.DecisionAllow {
				values = p.Values
				if err := form.Check(input.Fields, values); err != nil {
					return err
				}
			}
			return s.m.audit(ctx, who, *q, did+" a question of", s.name)
		},
	})
	switch {
	case err != nil:
		s.log.addf("A question was cancelled: %v", err)
	case end.State == protocol.QuestionDenied:
		return &mcp.ElicitResult{Action: "decline"}, nil
	case end.Allowed() && input.URL != "":
		return &mcp.ElicitResult{Action: "accept"}, nil
	case end.Allowed():
		if values == nil {
			values = map[string]any{}
		}
		return &mcp.ElicitResult{Action: "accept", Content: values}, nil
	}
	return &mcp.ElicitResult{Action: "cancel"}, nil
}

// inputOf returns what a server wants to know, or why it cannot be shown.
func inputOf(name protocol.ServerName, p *mcp.ElicitParams) (*protocol.InputSubject, error) {
	input := &protocol.InputSubject{Server: name, Message: format.Clip(p.Message, maxMessage)}
	if p.Mode == "url" || p.URL != "" {
		u, err := url.Parse(p.URL)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return nil, errors.New("its address is not a web address")
		}
		input.URL = u.String()
		return input, nil
	}
	var err error
	input.Fields, err = form.Fields(p.RequestedSchema)
	return input, err
}
