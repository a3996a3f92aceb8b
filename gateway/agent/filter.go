package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"fairlead/gateway/llm"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// aboutFilter matches the errors of content filters, which refuse a request before the model
// answers.
var aboutFilter = regexp.MustCompile(`(?i)content[ _-]?(filter|management|policy|moderation)|moderation|responsible ?ai|prohibited_content|safety (system|filter|polic)|usage polic|data_inspection`)

// isFiltered reports whether a content filter or the model itself refused a request or its answer.
func isFiltered(stop string, err error) bool {
	e, _ := errors.AsType[*protocol.Error](err)
	switch {
	case err == nil:
		return false
	case stop == llm.StopRefusal:
		return true
	}
	return e != nil && errors.Is(err, protocol.ErrModel) && !e.Retryable && aboutFilter.MatchString(err.Error())
}

// conversation are the messages of a chat as one model gets them.
type conversation struct {
	messages []protocol.Message
	model    protocol.ModelRef
}

// messagesToOmit returns the messages to leave out of later requests to the model after its filter
// refused them, with a sentence about them: otherwise it would refuse every later message of the
// chat too. These are the messages since the last answer that it let the model finish. If some of
// them are left out already, the cause is older: then it is all messages so far.
func (c conversation) messagesToOmit() (ids []protocol.MessageID, text string) {
	ids, isRepeated := c.messagesSinceAnswer()
	if !isRepeated {
		return ids, fmt.Sprintf("%s left out of later requests to %s, so that this chat can go on. Other models still get it.", c.name(ids), c.model.ID)
	}
	ids = nil
	for _, m := range c.messages {
		if m.Origin != protocol.OriginNotice {
			ids = append(ids, m.ID)
		}
	}
	return ids, fmt.Sprintf("All messages so far are left out of later requests to %s, because it was refused again. Other models still get them.", c.model.ID)
}

// messagesSinceAnswer returns the messages since the last complete answer, and whether some of them
// are left out already.
func (c conversation) messagesSinceAnswer() (ids []protocol.MessageID, isRepeated bool) {
	for _, m := range slices.Backward(c.messages) {
		if o := m.Omitted; o != nil && len(o.Messages) > 0 && m.Provider == c.model.Provider && m.Model == c.model.ID {
			isRepeated = true
		}
		if m.OutsideConversation() {
			continue
		}
		if m.Role == protocol.RoleAssistant && m.ErrorMessage == "" {
			break
		}
		ids = append(ids, m.ID)
	}
	slices.Reverse(ids)
	return ids, isRepeated
}

// name describes messages as the beginning of a sentence.
func (c conversation) name(ids []protocol.MessageID) string {
	i := slices.IndexFunc(c.messages, func(m protocol.Message) bool { return slices.Contains(ids, m.ID) })
	if i < 0 {
		return "The last message is"
	}
	switch m := c.messages[i]; {
	case m.Role == protocol.RoleToolResult && len(ids) == 1:
		return fmt.Sprintf("The result of %s is", m.ToolName)
	case m.Role == protocol.RoleToolResult:
		return fmt.Sprintf("The results of %s and others are", m.ToolName)
	case m.Content.Text() != "":
		return fmt.Sprintf("The message that begins “%s” is", format.Line(m.Content.Text(), 40))
	}
	return "The last message is"
}

// withoutContents returns a message with a note in place of its contents. Calls stay, because their
// results refer to them, but without arguments.
func withoutContents(m protocol.Message) protocol.Message {
	content := protocol.Content{protocol.Text("[This is left out, because the provider of this model refused it.]")}
	for _, b := range m.Content {
		if b.Type == protocol.BlockToolCall {
			b.Arguments = json.RawMessage("{}")
			content = append(content, b)
		}
	}
	m.Content = content
	return m
}
