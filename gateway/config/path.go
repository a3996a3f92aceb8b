package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fairlead/gateway/protocol"
)

// field is a value in Config that a dotted path names.
type field struct {
	typ    reflect.Type
	tag    reflect.StructTag
	secret string // name in the secret store; empty for values that are not secret
}

func bad(format string, args ...any) error {
	return protocol.ErrBadRequest.With(fmt.Sprintf(format, args...))
}

// lookup finds the field that a path names. Its error lists the valid names.
func lookup(path string) (field, error) {
	if path == "" {
		return field{}, bad("path required")
	}
	f := field{typ: reflect.TypeFor[Config]()}
	parts := strings.Split(path, ".")
	for i, name := range parts {
		if name == "" {
			return field{}, bad("%q is not a path: a part of it is empty", path)
		}
		above := strings.Join(parts[:i], ".")
		switch deref(f.typ).Kind() {
		case reflect.Struct:
			next, names, ok := member(deref(f.typ), name)
			if !ok {
				return field{}, unknown(above, name, names)
			}
			f = field{typ: next.Type, tag: next.Tag, secret: next.Tag.Get("secret")}
		case reflect.Map:
			if err := checkKey(above, name); err != nil {
				return field{}, err
			}
			secret := f.secret
			if secret != "" {
				secret += name
			}
			f = field{typ: f.typ.Elem(), secret: secret}
		case reflect.Slice:
			return field{}, bad("%s is a list: set it as a whole", above)
		default:
			return field{}, bad("%s is a single value without parts", above)
		}
	}
	return f, nil
}

func deref(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// unknown returns an error that suggests a similar name and lists all of them.
func unknown(where, name string, names []string) error {
	if where == "" {
		where = "the configuration"
	}
	guess := ""
	for _, n := range names {
		if strings.EqualFold(n, name) || len(name) > 2 && (strings.HasPrefix(n, name) || strings.HasPrefix(name, n)) {
			guess = fmt.Sprintf("; did you mean %q?", n)
		}
	}
	return bad("%s has no %q%s It has %s", where, name, cmp.Or(guess, "."), strings.Join(names, ", "))
}

// maxKey is the longest name, in bytes, that a person may choose.
const maxKey = 200

// checkKey refuses names that cannot be part of a path, or that are unsafe as property names in
// JavaScript clients.
func checkKey(where, name string) error {
	switch {
	case name == "" || len(name) > maxKey || strings.Contains(name, "."):
		return bad("%s: the name %q must have 1 to %d characters and no dot", where, name, maxKey)
	case name == "__proto__" || name == "prototype" || name == "constructor":
		return bad("%s: the name %q is reserved", where, name)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return bad("%s: the name %q contains invalid characters", where, name)
	}
	return nil
}

func member(t reflect.Type, name string) (found reflect.StructField, names []string, ok bool) {
	for i := range t.NumField() {
		json, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if json == name {
			return t.Field(i), nil, true
		}
		names = append(names, json)
	}
	return found, names, false
}

// check reports whether value can be decoded as the field's type, with every name in it spelled
// exactly. Limits are checked by validate, on the whole configuration, because a part may rely on
// defaults.
func (f field) check(path string, value json.RawMessage) error {
	var any any
	if err := json.Unmarshal(value, &any); err != nil {
		return bad("%s must be %s, not %s", path, typeText(f), short(value))
	}
	if err := names(path, f.typ, any); err != nil {
		return err
	}
	if err := protocol.Unmarshal(value, reflect.New(f.typ).Interface()); err != nil {
		return f.blame(path, value)
	}
	return nil
}

// blame returns an error that names the part of a value with the wrong type.
func (f field) blame(path string, value json.RawMessage) error {
	t := deref(f.typ)
	var parts map[string]json.RawMessage
	var list []json.RawMessage
	switch {
	case t.Kind() == reflect.Slice && json.Unmarshal(value, &list) == nil:
		for i, part := range list {
			if err := (field{typ: t.Elem()}).check(fmt.Sprintf("%s.%d", path, i), part); err != nil {
				return err
			}
		}
	case json.Unmarshal(value, &parts) != nil:
	case t.Kind() == reflect.Map, t.Kind() == reflect.Struct:
		for _, name := range slices.Sorted(maps.Keys(parts)) {
			part := field{}
			if t.Kind() == reflect.Map {
				part.typ = t.Elem()
			} else if next, _, ok := member(t, name); ok {
				part.typ, part.tag = next.Type, next.Tag
			}
			if part.typ == nil || string(parts[name]) == "null" {
				continue
			}
			if err := part.check(join(path, name), parts[name]); err != nil {
				return err
			}
		}
	}
	return bad("%s must be %s, not %s", path, typeText(f), short(value))
}

// names checks the names in v. Go's decoder accepts them in any case; a misspelled name would then
// be stored beside the right one.
func names(path string, t reflect.Type, v any) error {
	t = deref(t)
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			switch t.Kind() {
			case reflect.Struct:
				next, all, ok := member(t, k)
				if !ok {
					return unknown(path, k, all)
				}
				if err := names(path+"."+k, next.Type, x); err != nil {
					return err
				}
			case reflect.Map:
				if err := checkKey(path, k); err != nil {
					return err
				}
				if err := names(path+"."+k, t.Elem(), x); err != nil {
					return err
				}
			}
		}
	case []any:
		if t.Kind() != reflect.Slice {
			return nil // the decoder reports the error
		}
		for i, x := range v {
			if x == nil { // the decoder would make it empty
				return bad("%s.%d must be %s, not null", path, i, typeText(field{typ: t.Elem()}))
			}
			if err := names(fmt.Sprintf("%s.%d", path, i), t.Elem(), x); err != nil {
				return err
			}
		}
	}
	return nil
}

func short(v json.RawMessage) string {
	if len(v) > 60 {
		return string(v[:57]) + "…"
	}
	return string(v)
}

// typeText returns what a value of the field must be.
func typeText(f field) string {
	switch deref(f.typ).Kind() {
	case reflect.Int, reflect.Int64:
		return "a whole number" + bounds(f.tag)
	case reflect.Float64:
		return "a number" + bounds(f.tag)
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		if one := f.tag.Get("oneof"); one != "" {
			return "one of " + strings.ReplaceAll(strings.TrimPrefix(one, ","), ",", ", ")
		}
		return "text"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}

func bounds(tag reflect.StructTag) string {
	lo, hi := tag.Get("min"), tag.Get("max")
	if lo == "" {
		return ""
	}
	return " from " + lo + " to " + hi
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
