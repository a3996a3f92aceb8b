// Package rest serves the tools of package catalog over HTTP: POST /api/v1/tools/NAME, with a list
// of the tools, an OpenAPI document, and a page that shows it. docs/api.md describes it.
package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"fairlead/gateway/auth"
	"fairlead/gateway/catalog"
	"fairlead/gateway/protocol"
	"fairlead/gateway/surface/bearer"
	"fairlead/gateway/tool/job"
)

// Tools runs the tools ([catalog.Catalog]).
type Tools interface {
	Tools(p auth.Principal) []catalog.Tool
	Call(ctx context.Context, p auth.Principal, r catalog.Request) (job.Result, error)
}

// Waiting are the calls that wait for the person without their callers ([job.Jobs]).
type Waiting interface {
	Outcome(ctx context.Context, p auth.Principal, id protocol.CallID) (job.Result, error)
}

// Options are the parts that the handler uses.
type Options struct {
	Tools   Tools
	Waiting Waiting
	Guard   bearer.Guard
	Version string
}

// maxKey is the limit of an idempotency key, in characters.
const maxKey = 200

type handler struct {
	Options
	mux *http.ServeMux
}

// New returns a handler for the paths below /api.
func New(o Options) http.Handler {
	h := &handler{o, http.NewServeMux()}
	h.mux.HandleFunc("/api/v1/tools", h.only(http.MethodGet, h.index))
	h.mux.HandleFunc("/api/v1/openapi.json", h.only(http.MethodGet, h.document))
	h.mux.HandleFunc("/api/v1/tools/{name}", h.only(http.MethodPost, h.call))
	h.mux.HandleFunc("/api/v1/calls/{id}", h.only(http.MethodGet, h.outcome))
	h.mux.HandleFunc("/api/{$}", h.page)
	h.mux.Handle("/api", http.RedirectHandler("/api/", http.StatusFound))
	h.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		bearer.Fail(w, http.StatusNotFound, protocol.NewFault(protocol.FaultNotFound, "there is nothing at this address: see /api/"))
	})
	return h.mux
}

// only refuses other methods, and requests without a token.
func (h *handler) only(method string, f func(http.ResponseWriter, *http.Request, auth.Principal)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if r.Method != method && (method != http.MethodGet || r.Method != http.MethodHead) {
			allow := method
			if method == http.MethodGet {
				allow += ", HEAD"
			}
			w.Header().Set("Allow", allow)
			bearer.Fail(w, http.StatusMethodNotAllowed, protocol.NewFault(protocol.FaultMethodNotAllowed, "this address takes "+method))
			return
		}
		if p, ok := h.Guard.Authenticate(w, r); ok {
			f(w, r, p)
		}
	}
}

// summary is a line of the list of tools.
type summary struct {
	Name         string           `json:"name"`
	Title        string           `json:"title"`
	Description  string           `json:"description"`
	Mode         string           `json:"mode"`
	Capabilities []protocol.Scope `json:"capabilities"` // the scopes that a call may need
}

func (h *handler) index(w http.ResponseWriter, _ *http.Request, p auth.Principal) {
	list := []summary{}
	for _, t := range h.Tools.Tools(p) {
		list = append(list, summary{t.Name, t.Title, t.Description, t.Mode, append([]protocol.Scope{}, t.Scopes...)})
	}
	reply(w, map[string]any{"tools": list})
}

func reply(w http.ResponseWriter, v any) {
	raw, err := protocol.Marshal(v)
	if err != nil {
		bearer.Fail(w, http.StatusInternalServerError, protocol.NewFault(protocol.FaultInternal, "the result could not be encoded"))
		return
	}
	send(w, raw)
}

// send answers with JSON, which consists of parts.
func send(w http.ResponseWriter, parts ...[]byte) {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Length", strconv.Itoa(size))
	for _, p := range parts {
		w.Write(p)
	}
}

// success is the answer to a call that succeeded.
type success struct {
	Data    json.RawMessage `json:"data"`
	Message string          `json:"message"`
}

func (h *handler) call(w http.ResponseWriter, r *http.Request, p auth.Principal) {
	args, problem := body(w, r)
	if problem != nil {
		h.fail(w, r, problem)
		return
	}
	key := r.Header.Get("Idempotency-Key")
	if len(key) > maxKey {
		h.fail(w, r, protocol.NewFault(protocol.FaultInvalidArgs, "Idempotency-Key can have at most "+strconv.Itoa(maxKey)+" characters"))
		return
	}
	in := catalog.Request{Tool: r.PathValue("name"), Args: args, IdempotencyKey: key}
	if h.wantsStream(r, p, in.Tool) {
		h.stream(w, r, p, in)
		return
	}
	out, err := h.Tools.Call(r.Context(), p, in)
	h.answer(w, r, out, err)
}

func (h *handler) outcome(w http.ResponseWriter, r *http.Request, p auth.Principal) {
	out, err := h.Waiting.Outcome(r.Context(), p, protocol.CallID(r.PathValue("id")))
	h.answer(w, r, out, err)
}

func (h *handler) answer(w http.ResponseWriter, r *http.Request, out job.Result, err error) {
	if err != nil {
		h.fail(w, r, err)
		return
	}
	data := out.Data // is not encoded or copied again: it may be a large part of a file
	if len(data) == 0 {
		data = json.RawMessage("null")
	}
	send(w, []byte(`{"data":`), data, fmt.Appendf(nil, `,"message":%s}`, protocol.Encode(out.Message)))
}

// fail answers with a failure and its status.
func (h *handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	f := protocol.AsFault(err)
	var details struct {
		RetryAfterMs   int64            `json:"retry_after_ms"`
		RequiredScopes []protocol.Scope `json:"required_scopes"`
	}
	if len(f.Details) > 0 {
		json.Unmarshal(f.Details, &details) // ours
	}
	if details.RetryAfterMs > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt((details.RetryAfterMs+999)/1000, 10))
	}
	if f.Code == protocol.FaultForbidden {
		h.Guard.Need(w, r, details.RequiredScopes)
	}
	status := catalog.HTTPStatus(f.Code)
	if errors.Is(err, errMediaType) {
		status = http.StatusUnsupportedMediaType
	}
	bearer.Fail(w, status, f)
}

// body reads the arguments of a call: one JSON object.
func body(w http.ResponseWriter, r *http.Request) (json.RawMessage, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); r.Header.Get("Content-Type") != "" && (err != nil || kind != "application/json") {
		return nil, errMediaType
	}
	if r.Header.Get("Content-Encoding") != "" {
		return nil, protocol.NewFault(protocol.FaultInvalidArgs, "a compressed body is not supported")
	}
	raw, err := bearer.ReadBody(w, r)
	if _, large := errors.AsType[*protocol.Fault](err); large {
		return nil, err
	}
	if err != nil {
		return nil, protocol.NewFault(protocol.FaultInvalidArgs, "the body could not be read")
	}
	if len(strings.TrimSpace(string(raw))) == 0 {
		return json.RawMessage("{}"), nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		return nil, protocol.NewFault(protocol.FaultInvalidArgs, "the body must be a JSON object")
	}
	return raw, nil
}

// errMediaType is the failure for a body that is not JSON.
var errMediaType error = protocol.NewFault(protocol.FaultInvalidArgs, "the body must be application/json")
