package chat

import (
	"cmp"
	"slices"

	"fairlead/app/transcript"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// requests repeats what the person wanted from the agent.
type requests struct {
	chat *conversation
	list *transcript.View
}

// runAction performs the action of a notice's or problem's button.
func (r *requests) runAction(what string, run protocol.RunID) {
	if what == actionRetry {
		r.retry(run)
	}
	h := r.chat.handlers
	widgets.Call(map[string]func(){actionSettings: h.Settings, actionBudget: h.Budget, actionReset: h.Reset, actionReload: h.Reload, actionResume: h.Resume}[what])
}

// retry answers the message of a run again. If the run called tools, the message is sent anew, so
// that the agent knows what was done already.
func (r *requests) retry(run protocol.RunID) {
	text := ""
	for _, failed := range r.chat.state.Runs {
		if failed.RunID == run {
			text = failed.Message
		}
	}
	var content protocol.Content
	calledTools := false
	for _, m := range slices.Backward(r.chat.state.Messages) {
		calledTools = calledTools || m.Role == protocol.RoleToolResult
		if m.Role != protocol.RoleUser || m.RunID != run && m.RunID != "" {
			continue
		}
		if m.Origin == protocol.OriginPerson && m.ID != "" && !calledTools {
			r.resend(protocol.ChatResendParams{MessageID: m.ID})
			return
		}
		content = m.Content
		if m.Origin == protocol.OriginEvent {
			c, _ := m.Completion()
			text = cmp.Or(text, c.Words(string(c.NodeID)))
		}
		break
	}
	r.sendAgain(cmp.Or(text, content.Text()), content)
}

// sendAgain sends a text with the pictures of an earlier message as a new one.
func (r *requests) sendAgain(text string, content protocol.Content) {
	if r.chat.readOnly {
		return
	}
	r.chat.withPictures(content, func(list []protocol.Attachment) {
		if text == "" && len(list) == 0 {
			return
		}
		r.list.ScrollToEnd()
		r.chat.handlers.Send(text, list, r.chat.machine)
	})
}

// resend replaces a message and what followed it.
func (r *requests) resend(in protocol.ChatResendParams) {
	if r.chat.readOnly {
		return
	}
	in.Node = r.chat.machine
	r.list.ScrollToEnd()
	r.chat.handlers.Resend(in)
}
