package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/protocol"
	"fairlead/gateway/surface/bearer"
)

// message is the part of a request that decides how it is served.
type message struct {
	ID     json.RawMessage // nil for none
	Method string
	Params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Meta      map[string]any  `json:"_meta"`
	}
}

// version returns the protocol version that a message without a session names; empty for none.
func (m message) version() string {
	v, _ := m.Params.Meta[mcp.MetaKeyProtocolVersion].(string)
	return v
}

// decode decodes one message as the SDK does, which distinguishes METHOD from method. The error is
// the answer to a message that the SDK would end the connection for, or answer under another ID.
func decode(raw []byte) (m message, failure *jsonrpc.Error) {
	if !json.Valid(raw) {
		return m, &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the message is not valid JSON"}
	}
	var fields map[string]json.RawMessage
	json.Unmarshal(raw, &fields) // it fails for what is no object, which has no fields
	id, hasID := fields["id"]
	if isID(id) {
		m.ID = id
	} else if hasID {
		return m, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the id must be a string or an integer of at most 53 bits"}
	}
	decoded, err := jsonrpc.DecodeMessage(raw)
	if err != nil {
		return m, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: notJSONRPC}
	}
	if request, ok := decoded.(*jsonrpc.Request); ok {
		m.Method = request.Method
		json.Unmarshal(request.Params, &m.Params) // checkParams finds what is wrong in them
		if m.ID != nil && !(m.version() != "" && isOnlyLegacy[m.Method]) {
			failure = checkParams(m.Method, request.Params)
		}
	}
	return m, failure
}

const notJSONRPC = `the message is not one of JSON-RPC 2.0: it needs "jsonrpc":"2.0", and a method, a result or an error`

// isID reports whether the SDK answers a request under the same ID: it reads numbers as float64 and
// cuts off their fractions.
func isID(raw json.RawMessage) bool {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return false
	}
	switch v := v.(type) {
	case string:
		return true
	case float64:
		return v == float64(int64(v)) && -1<<53 < v && v < 1<<53
	}
	return false
}

// encodeFailure returns the answer with an error.
func encodeFailure(id json.RawMessage, failure *jsonrpc.Error) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	raw, err := protocol.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": failure})
	if err != nil {
		raw = []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"internal error"}}`)
	}
	return raw
}

// fail answers an HTTP request with an error of JSON-RPC.
func fail(w http.ResponseWriter, status int, id json.RawMessage, failure *jsonrpc.Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(encodeFailure(id, failure))
}

// peek reads the body of a request and puts it back. If the body is no message, or its header
// belongs to another one, peek answers the request and ok is false.
func (s *Server) peek(w http.ResponseWriter, r *http.Request) (m message, ok bool) {
	if r.Method != http.MethodPost {
		return m, true
	}
	raw, err := bearer.ReadBody(w, r)
	if large, ok := errors.AsType[*protocol.Fault](err); ok {
		bearer.Fail(w, http.StatusRequestEntityTooLarge, large)
		return m, false
	}
	if err != nil {
		return m, false // the client has gone
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	if isBatch(raw) && json.Valid(raw) {
		return m, true
	}
	m, failure := decode(raw)
	if failure == nil {
		failure = checkHeader(r, m)
	}
	if failure != nil {
		status := http.StatusBadRequest
		if failure.Code == jsonrpc.CodeInvalidParams && !isModern(r, m) {
			status = http.StatusOK // a client of an older version does not read errors of other statuses
		}
		fail(w, status, m.ID, failure)
		return m, false
	}
	return m, true
}

// isBatch reports whether a body has several messages, as in version 2025-03-26. The SDK decodes
// each of them.
func isBatch(raw []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("["))
}

// checkHeader checks that the header and the body of a request are for the same protocol version,
// and that a request of an older version has a session or opens one: the SDK would open a session
// for every other.
func checkHeader(r *http.Request, m message) *jsonrpc.Error {
	header, body := r.Header.Get("MCP-Protocol-Version"), m.version()
	switch {
	case header != "" && body != "" && header != body:
		return &jsonrpc.Error{Code: mcp.CodeHeaderMismatch, Message: fmt.Sprintf("the header MCP-Protocol-Version is %q, and the body has %q", header, body)}
	case r.Header.Get("Mcp-Session-Id") == "" && m.Method != "initialize" && !isModern(r, m):
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "open a session with initialize, and send its Mcp-Session-Id"}
	}
	return nil
}

// decodeName decodes the name of a tool or a resource that does not fit into a header as it is:
// =?base64?…?=. The SDK decodes only the headers of parameters.
func decodeName(h http.Header) {
	encoded, begins := strings.CutPrefix(h.Get(nameHeader), encodedPrefix)
	encoded, ends := strings.CutSuffix(encoded, encodedSuffix)
	if !begins || !ends {
		return
	}
	if name, err := base64.StdEncoding.DecodeString(encoded); err == nil {
		h.Set(nameHeader, string(name))
	}
}

// encodeName is the inverse of decodeName: the SDK does not encode names that need it.
func encodeName(h http.Header) {
	name := h.Get(nameHeader)
	isPlain := strings.TrimSpace(name) == name && !strings.HasPrefix(name, encodedPrefix)
	for _, c := range []byte(name) {
		isPlain = isPlain && ' ' <= c && c <= '~'
	}
	if !isPlain {
		h.Set(nameHeader, encodedPrefix+base64.StdEncoding.EncodeToString([]byte(name))+encodedSuffix)
	}
}

const nameHeader, encodedPrefix, encodedSuffix = "Mcp-Name", "=?base64?", "?="

// anyError begins an error that the SDK wrote, with the group 1.
const anyError = `\A((?:event: message\n)?(?:data: )?\{"jsonrpc":"2\.0","id":(?:"(?:[^"\\]|\\.)*"|[-0-9.eE+]+|null),"error":\{"code":`

var (
	// withoutCode matches the answers to requests that the SDK refuses before a handler: they have the
	// code 0, which is not one of JSON-RPC.
	withoutCode = regexp.MustCompile(anyError + `)0,`)
	// badParams matches the answers to messages of a batch, whose parameters are not checked before.
	badParams = regexp.MustCompile(anyError + `-3260[02],"message":")(?:[^"\\]|\\.)*unmarshaling (?:[^"\\]|\\.)*"`)
	// unknownMethod matches the answers to methods that the protocol does not have.
	unknownMethod = regexp.MustCompile(anyError + `-32601,"message":")JSON RPC not handled: (\\"(?:[^"\\]|\\.)*\\") unsupported"`)
)

// correctError gives an answer of the SDK with an error a code, and a text for people. b is a whole
// message or event.
func correctError(b []byte) []byte {
	b = withoutCode.ReplaceAll(b, fmt.Appendf(nil, "${1}%d,", jsonrpc.CodeInvalidRequest))
	b = badParams.ReplaceAll(b, []byte(`${1}the params are not those of the MCP specification"`))
	return unknownMethod.ReplaceAll(b, []byte(`${1}method not found: $2"`))
}

// errorWriter turns the texts with which the SDK refuses a request into errors of JSON-RPC.
type errorWriter struct {
	http.ResponseWriter
	message message
	status  int // of a text
}

// WriteHeader implements http.ResponseWriter.
func (w *errorWriter) WriteHeader(status int) {
	if status >= http.StatusBadRequest && strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		w.status = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer.
func (w *errorWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		if _, err := w.ResponseWriter.Write(correctError(b)); err != nil {
			return 0, err
		}
		return len(b), nil
	}
	text := strings.TrimSpace(string(b))
	code := int64(jsonrpc.CodeInvalidRequest)
	if strings.HasPrefix(text, "malformed payload") {
		text = "the batch must be a list of messages of JSON-RPC 2.0, with at least one"
	}
	if strings.Contains(text, "not handled") {
		code, text = jsonrpc.CodeMethodNotFound, fmt.Sprintf("method not found: %q", w.message.Method)
		if w.message.ID != nil {
			w.status = http.StatusOK // a client of an older version does not read errors of other statuses
		}
	}
	fail(w.ResponseWriter, w.status, w.message.ID, &jsonrpc.Error{Code: code, Message: text})
	return len(b), nil
}

// Unwrap is for http.ResponseController.
func (w *errorWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
