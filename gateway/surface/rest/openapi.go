package rest

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"

	"github.com/google/jsonschema-go/jsonschema"

	"fairlead/gateway/auth"
	"fairlead/gateway/catalog"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// object is a JSON object. Its keys are encoded in alphabetical order, so the document always has
// the same bytes.
type object = map[string]any

// document serves the OpenAPI document of the tools that the program may use.
func (h *handler) document(w http.ResponseWriter, r *http.Request, p auth.Principal) {
	raw, err := protocol.Marshal(Document(h.Tools.Tools(p), h.Version))
	if err != nil {
		h.fail(w, r, err)
		return
	}
	sum := sha256.Sum256(raw)
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "private, no-cache")
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(raw)
}

// statuses are the failures of every call, by status.
var statuses = map[string]string{
	"400": "The arguments are wrong: invalid_args",
	"401": "The token is missing or not valid: unauthorized",
	"403": "A scope is missing (forbidden), or the owner or a rule refused the call (permission_denied)",
	"404": "The tool, the machine or the file does not exist: not_found, target_not_found",
	"405": "Another method is needed: method_not_allowed",
	"409": "The owner has not answered yet (approval_required), or it exists already (already_exists)",
	"412": "A guard failed: failed_precondition. details has observed_sha256",
	"413": "The body or the file is too large: too_large",
	"415": "The body is not JSON: invalid_args",
	"429": "Too many calls: rate_limited, resource_exhausted",
	"499": "The call was cancelled: canceled",
	"500": "Fairlead failed: internal",
	"501": "The machine's system cannot do it: unsupported",
	"503": "The machine is offline: target_unreachable",
	"504": "The call took too long: timeout",
}

// Document returns the OpenAPI document (version 3.1) of tools. The schemas are the very values of
// the tools.
func Document(tools []catalog.Tool, version string) any {
	paths := object{}
	for _, t := range tools {
		paths["/api/v1/tools/"+t.Name] = object{"post": operation(t)}
	}
	reference := object{"$ref": "#/components/schemas/Error"}
	paths["/api/v1/tools"] = object{"get": object{
		"operationId": "list_tools", "summary": "List the tools", "tags": []string{"api"}, "responses": withFailures(object{"200": content("The tools", object{"type": "object"})}, "401"),
	}}
	paths["/api/v1/openapi.json"] = object{"get": object{
		"operationId": "openapi", "summary": "This document", "tags": []string{"api"},
		"responses": withFailures(object{"200": content("The document", object{"type": "object"}), "304": object{"description": "It has not changed"}}, "401"),
	}}
	paths["/api/v1/calls/{id}"] = object{"get": object{
		"operationId": "call_outcome", "summary": "The outcome of a call that waited for the owner", "tags": []string{"api"},
		"parameters": []object{{"name": "id", "in": "path", "required": true, "description": "call_id of the details of approval_required", "schema": object{"type": "string"}}},
		"responses":  withFailures(object{"200": content("The result of the call", object{"type": "object"})}),
	}}
	scopes := object{}
	for _, s := range protocol.AppScopes {
		scopes[string(s)] = format.Capital(format.Enumerate(protocol.Permissions(s)))
	}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Fairlead", "version": version, "summary": "The machines of one person, for programs",
			"description": "Every tool is called with POST and a JSON object. Calls with an effect may need the owner's approval.",
			"license":     object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"servers":  []object{{"url": "/", "description": "This gateway"}},
		"security": []object{{"token": []string{}}, {"oauth": []string{}}},
		"tags":     []object{{"name": "tools", "description": "The tools"}, {"name": "api", "description": "About the API"}},
		"paths":    paths,
		"components": object{
			"schemas": object{"Error": errorSchema},
			"responses": object{"Failure": object{
				"description": "The call failed", "content": object{"application/json": object{"schema": reference}},
			}},
			"securitySchemes": object{
				"token": object{"type": "http", "scheme": "bearer", "description": "A token that you made in Fairlead, or an access token"},
				"oauth": object{"type": "oauth2", "flows": object{"authorizationCode": object{
					"authorizationUrl": "/oauth/authorize", "tokenUrl": "/oauth/token", "refreshUrl": "/oauth/token", "scopes": scopes,
				}}},
			},
		},
	}
}

func operation(t catalog.Tool) object {
	ok := object{"application/json": object{"schema": object{
		"type": "object", "required": []string{"data", "message"},
		"properties": object{"data": t.Out, "message": object{"type": "string", "description": "A line for people"}},
	}}}
	op := object{
		"operationId": t.Name, "summary": t.Title, "description": t.Description, "tags": []string{"tools"},
		"parameters": []object{{
			"name": "Idempotency-Key", "in": "header", "description": "Repeats with the same key return the result of the first call, unless it failed and its error is retryable", "schema": object{"type": "string", "maxLength": maxKey},
		}},
		"requestBody": object{"required": true, "content": object{"application/json": object{"schema": t.In}}},
		"x-mode":      t.Mode, "x-scopes": append([]protocol.Scope{}, t.Scopes...),
		"x-annotations": object{"readOnlyHint": t.ReadOnly, "destructiveHint": t.Destructive, "idempotentHint": t.Idempotent, "openWorldHint": t.OpenWorld},
	}
	description := "The result"
	if t.Mode == catalog.ServerStream {
		ok["text/event-stream"] = object{"schema": &jsonschema.Schema{Type: "string", Description: "Events: chunk, progress, and at the end done or error"}}
		description = "The result; with Accept: text/event-stream, events"
	}
	op["responses"] = withFailures(object{"200": object{"description": description, "content": ok}})
	return op
}

func content(description string, schema any) object {
	return object{"description": description, "content": object{"application/json": object{"schema": schema}}}
}

// withFailures adds the failures to responses: those with the given statuses, or all.
func withFailures(responses object, only ...string) object {
	for status, text := range statuses {
		if len(only) > 0 && only[0] != status {
			continue
		}
		responses[status] = content(text, object{"$ref": "#/components/schemas/Error"})
	}
	return responses
}

// errorSchema describes the body of every failure.
var errorSchema = object{
	"type": "object", "required": []string{"error"},
	"properties": object{"error": object{
		"type": "object", "required": []string{"code", "message", "retryable"},
		"properties": object{
			"code":      object{"type": "string", "description": "A stable name of the failure"},
			"message":   object{"type": "string", "description": "What went wrong and what to do"},
			"retryable": object{"type": "boolean", "description": "The same call may succeed later"},
			"details":   object{"type": "object", "description": "More about the failure, depending on its code"},
		},
	}},
}
