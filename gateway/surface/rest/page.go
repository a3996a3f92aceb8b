package rest

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"fairlead/gateway/auth"
	"fairlead/gateway/catalog"
	"fairlead/gateway/protocol"
	"fairlead/gateway/surface/bearer"
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
		Name, Title, Description string
		IsStream                 bool
		Scopes                   []protocol.Scope
		In, Out                  []field
	}
	everything := auth.Principal{Kind: auth.KindApp, Scopes: map[protocol.Scope]bool{}}
	for _, s := range protocol.AppScopes {
		everything.Scopes[s] = s != protocol.ScopeAllTools
	}
	var list []shown
	for _, t := range h.Tools.Tools(everything) {
		out := fieldsOf("", t.Out)
		for i := range out {
			out[i].IsRequired = false // nobody has to give it
		}
		list = append(list, shown{t.Name, t.Title, t.Description, t.Mode == catalog.ServerStream, t.Scopes, fieldsOf("", t.In), out})
	}
	address := "http://" + r.Host
	if r.TLS != nil {
		address = "https://" + r.Host
	}
	var out bytes.Buffer
	if err := pageTemplate.Execute(&out, map[string]any{"Tools": list, "Version": h.Version, "Address": address}); err != nil {
		http.Error(w, "the page could not be made", http.StatusInternalServerError)
		return
	}
	bearer.SetPageHeaders(w.Header())
	w.Write(out.Bytes())
}

// field is an argument or a part of a result.
type field struct {
	Name, Type, Description string
	IsRequired              bool
}

// fieldsOf lists the fields of an object. A field of an object in it follows the object, with the
// names of both.
func fieldsOf(prefix string, s *jsonschema.Schema) (list []field) {
	names := slices.Clone(s.PropertyOrder)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		p, full := s.Properties[name], prefix+name
		if p == nil {
			continue
		}
		list = append(list, field{full, typeOf(p), p.Description, slices.Contains(s.Required, name)})
		if p.Items != nil {
			p, full = p.Items, full+"[]"
		}
		list = append(list, fieldsOf(full+".", p)...)
	}
	return list
}

// typeOf names the type of a field, or its values.
func typeOf(s *jsonschema.Schema) string {
	kind := cmp.Or(s.Type, strings.Join(slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == "null" }), " or "), "any")
	switch {
	case len(s.Enum) > 0:
		var values []string
		for _, v := range s.Enum {
			values = append(values, fmt.Sprint(v))
		}
		last := len(values) - 1
		return strings.TrimPrefix(strings.Join(values[:last], ", ")+" or "+values[last], " or ")
	case s.Items != nil:
		return "list of " + typeOf(s.Items)
	}
	return kind
}
