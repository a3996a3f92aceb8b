// Package message checks the messages of an MCP server before the SDK reads them. The SDK gives up a
// whole list, answer or connection for one part that it cannot read; here only that part is left out
// or fails, and the log says so.
package message

import (
	"encoding/json"
	"errors"
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
			return c.broken(id, unreadable(raw)), true
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
	if changed = c.clean(result); changed {
		if answer.Result, err = protocol.Marshal(result); err != nil {
			return c.broken(answer.ID, err), true
		}
	}
	if err := json.Unmarshal(answer.Result, new(fields)); err != nil {
		return c.broken(answer.ID, errors.New(protocol.Problem(err))), true
	}
	return answer, changed
}

// fields are the fields of results that the SDK reads and that break an answer if they have other
// types.
type fields struct {
	Tools             []json.RawMessage `json:"tools"`
	Resources         []json.RawMessage `json:"resources"`
	ResourceTemplates []json.RawMessage `json:"resourceTemplates"`
	Prompts           []json.RawMessage `json:"prompts"`
	Contents          []struct {
		URI      string `json:"uri"`
		MIMEType string `json:"mimeType"`
		Text     string `json:"text"`
		Blob     []byte `json:"blob"`
	} `json:"contents"`
	Messages []struct {
		Role string `json:"role"`
	} `json:"messages"`
	Description     string `json:"description"`
	ProtocolVersion string `json:"protocolVersion"`
	Instructions    string `json:"instructions"`
	ResultType      string `json:"resultType"`
	ServerInfo      struct {
		Name    string `json:"name"`
		Title   string `json:"title"`
		Version string `json:"version"`
	} `json:"serverInfo"`
	Capabilities map[string]json.RawMessage `json:"capabilities"`
}

// unreadable says what is wrong with an answer that cannot be decoded.
func unreadable(raw []byte) error {
	if !json.Valid(raw) {
		return errors.New("it is not valid JSON")
	}
	var m struct {
		Version string `json:"jsonrpc"`
		Error   struct {
			Code    int64  `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return errors.New(protocol.Problem(err))
	}
	return errors.New(`it needs "jsonrpc":"2.0", and a result or an error`)
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
