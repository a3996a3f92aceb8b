package llmtest

import (
	"context"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

// Answer is the assembled result of a stream.
type Answer struct {
	Text, Thinking string
	Content        protocol.Content // thoughts, text, images and calls in their order
	Calls          []protocol.Block
	BadArgs        []string       // of each call
	Deltas         map[int]string // streamed arguments, by call
	Images         []protocol.Block
	Usage          protocol.Usage
	Retries        []llm.Retry
	Stop           string
	StopText       string
	Err            error
}

// Collect reads a complete answer.
func Collect(ctx context.Context, m llm.Model, req llm.Request) Answer {
	a := Answer{Deltas: map[int]string{}}
	for ev, err := range m.Stream(ctx, req) {
		if err != nil {
			a.Err = err
			break
		}
		switch ev.Type {
		case llm.EventText:
			a.Text += ev.Text
			if n := len(a.Content); n > 0 && a.Content[n-1].Type == protocol.BlockText {
				a.Content[n-1].Text += ev.Text
			} else {
				a.Content = append(a.Content, protocol.Text(ev.Text))
			}
		case llm.EventThinking:
			a.Thinking += ev.Text
		case llm.EventSignature:
			a.Content = append(a.Content, ev.Block)
		case llm.EventCallDelta:
			a.Deltas[ev.Index] += ev.Text
		case llm.EventCall:
			a.Content = append(a.Content, ev.Block)
			a.Calls = append(a.Calls, ev.Block)
			a.BadArgs = append(a.BadArgs, ev.BadArgs)
		case llm.EventImage:
			a.Content = append(a.Content, ev.Block)
			a.Images = append(a.Images, ev.Block)
		case llm.EventUsage:
			a.Usage = ev.Usage
		case llm.EventRetry:
			a.Retries = append(a.Retries, ev.Retry)
		case llm.EventStop:
			a.Stop, a.StopText = ev.Stop, ev.Text
		}
	}
	return a
}
