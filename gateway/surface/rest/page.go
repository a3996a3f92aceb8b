package rest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html/template"
	"net/http"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page shows the built-in tools to people. It needs no token, because it contains nothing about the
// person or their machines.
func (h *handler) page(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "this address takes GET", http.StatusMethodNotAllowed)
		return
	}
	type shown struct {
		Name, Title, Description, Mode, Scopes, In, Out string
	}
	everything := auth.Principal{Kind: auth.KindApp, Scopes: map[protocol.Scope]bool{}}
	for _, s := range protocol.AppScopes {
		everything.Scopes[s] = s != protocol.ScopeAllTools
	}
	var list []shown
	for _, t := range h.Tools.Tools(everything) {
		x := shown{Name: t.Name, Title: t.Title, Description: t.Description, Mode: string(t.Mode), In: indented(t.In), Out: indented(t.Out)}
		for _, s := range t.Scopes {
			x.Scopes += " " + string(s)
		}
		list = append(list, x)
	}
	var out bytes.Buffer
	if err := pageTemplate.Execute(&out, map[string]any{"Tools": list, "Version": h.Version}); err != nil {
		http.Error(w, "the page could not be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Write(out.Bytes())
}

func indented(v any) string {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return ""
	}
	return string(raw)
}
