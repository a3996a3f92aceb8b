// Package message checks the messages of an MCP server before the SDK reads them. The SDK gives up a
// whole list, answer or connection for one part that it cannot read; here only that part is left out
// or fails, and the log says so.
package message

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// MaxBytes is the size of the longest message that is read.
const MaxBytes = 32 << 20

// Codes of the errors with which a [Checker] replaces an answer that cannot be read. The server has
// answered, so that the call may have had its effect.
const (
	CodeTooLong = -32090
	CodeBroken  = -32091
)

// maxShown is how much of a line that is no message the log shows, in characters.
const maxShown = 200

// Checker checks the messages of one server.
type Checker struct {
	// Logf adds a line to the server's log.
	Logf func(format string, args ...any)
}

// Check returns the message, with its unreadable parts replaced or left out; changed reports whether
// there were any. It returns nil for what is no message, and an error response for a broken answer.
func (c Checker) Check(raw []byte) (msg jsonrpc.Message, changed bool) {
	msg, err := jsonrpc.DecodeMessage(raw)
	if err != nil {
		if id, ok := answerID(raw, raw); ok {
			return c.broken(id, err), true
		}
		c.Logf("Not a message: %s", format.Line(string(raw[:min(len(raw), 4*maxShown)]), maxShown))
		return nil, true
	}
	answer, ok := msg.(*jsonrpc.Response)
	if !ok || answer.Error != nil {
		return msg, false
	}
	var result map[string]json.RawMessage
	if err := json.Unmarshal(answer.Result, &result); err != nil || result == nil {
		return c.broken(answer.ID, fmt.Errorf("the result is not an object")), true
	}
	if !c.clean(result) {
		return msg, false
	}
	if answer.Result, err = protocol.Marshal(result); err != nil {
		return c.broken(answer.ID, err), true
	}
	return answer, true
}

// broken returns the answer of a call whose own answer cannot be read.
func (c Checker) broken(id jsonrpc.ID, err error) *jsonrpc.Response {
	text := "the answer of the server cannot be read: " + format.Line(err.Error(), maxShown)
	c.Logf("Call %v: %s", id.Raw(), text)
	return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: CodeBroken, Message: text}}
}

// TooLong returns the answer of a call whose own answer is longer than [MaxBytes]. head and tail are
// its beginning and its end. It returns nil if they do not name a call.
func (c Checker) TooLong(head, tail []byte) jsonrpc.Message {
	text := fmt.Sprintf("the answer of the server is longer than %d MiB and was not read", MaxBytes>>20)
	id, ok := answerID(head, tail)
	if !ok {
		c.Logf("A message is longer than %d MiB and was left out", MaxBytes>>20)
		return nil
	}
	c.Logf("Call %v: %s", id.Raw(), text)
	return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: CodeTooLong, Message: text}}
}

// The ID of an answer is before or after its result. Fairlead's IDs are numbers.
var (
	idAtStart = regexp.MustCompile(`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*[,}]`)
	idAtEnd   = regexp.MustCompile(`,\s*"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)
	isRequest = regexp.MustCompile(`^\s*\{\s*(?:"(?:jsonrpc|id)"\s*:\s*("2\.0"|\d+)\s*,\s*)*"method"`)
)

// answerID returns the ID of the call that a message answers, which cannot be decoded.
func answerID(head, tail []byte) (id jsonrpc.ID, ok bool) {
	if isRequest.Match(head) {
		return id, false
	}
	found := idAtStart.FindSubmatch(head)
	if found == nil {
		found = idAtEnd.FindSubmatch(tail)
	}
	if found == nil {
		return id, false
	}
	number, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		return id, false
	}
	id, err = jsonrpc.MakeID(number)
	return id, err == nil
}
