package config

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

//go:embed settings.json
var settingsJSON []byte

// descriptions are the titles, groups and descriptions of all settings by path, in which "*" stands
// for a name that the person chooses. Type, default and limits come from the fields of [Config]. A
// test checks that they are exactly those fields.
var descriptions = sync.OnceValue(func() map[string]protocol.ConfigField {
	var list []protocol.ConfigField
	if err := json.Unmarshal(settingsJSON, &list); err != nil {
		panic(fmt.Sprintf("settings.json: %v", err))
	}
	byPath := make(map[string]protocol.ConfigField, len(list))
	for _, f := range list {
		byPath[f.Path] = f
	}
	return byPath
})

// Schema describes every setting, in the order of config.get. It does not change while the gateway
// runs.
func Schema() []protocol.ConfigField {
	var list []protocol.ConfigField
	describeAll("", reflect.ValueOf(Default()), "", "", &list)
	return list
}

// describeAll appends the settings below v. It also describes the values behind nil pointers and
// empty maps.
func describeAll(path string, v reflect.Value, tag reflect.StructTag, secret string, list *[]protocol.ConfigField) {
	exists, t := true, v.Type()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
		if v.IsNil() {
			v, exists = reflect.New(t).Elem(), false
		} else {
			v = v.Elem()
		}
	}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
			part := v.Field(i)
			describeAll(join(path, name), part, f.Tag, f.Tag.Get("secret"), list)
			if last := &(*list)[len(*list)-1]; !exists || strings.Contains(opts, "omitempty") && part.IsZero() {
				last.Default = nil
			}
		}
		return
	case reflect.Map:
		describeAll(join(path, "*"), reflect.New(t.Elem()).Elem(), tag, secret, list)
		last := &(*list)[len(*list)-1]
		last.Default = nil
		return
	}
	f := descriptions()[path]
	f.Path, f.Type, f.Secret = path, typeName(t), secret != ""
	if t.Kind() == reflect.Slice {
		f.Items = typeName(t.Elem())
	}
	if exists && !f.Secret && !strings.Contains(path, "*") {
		f.Default, _ = protocol.Marshal(v.Interface()) // plain data, which always encodes
	}
	if one, ok := tag.Lookup("oneof"); ok {
		f.Enum = strings.Split(one, ",")
	}
	f.Min, f.Max = bound(tag.Get("min")), bound(tag.Get("max"))
	switch path { // whose types have no tags, or that are masked in their object
	case "services.signIn.*.clientSecret", mailPassword:
		f.Secret = true
	case "model.provider":
		f.Enum = slices.Clone(protocol.ProviderIDs)
	case "session.defaultResetPolicy.mode":
		f.Enum = slices.Clone(resetModes)
	case "session.defaultResetPolicy.atHour":
		f.Min, f.Max = bound("0"), bound("23")
	case "session.defaultResetPolicy.idleMinutes":
		f.Min = bound("0")
	}
	*list = append(*list, f)
}

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		return "list"
	case reflect.Struct:
		return "object"
	}
	return "string"
}

func bound(text string) *float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil
	}
	return &n
}

// Schema returns the description of every setting; see the function of the same name.
func (s *Store) Schema() []protocol.ConfigField { return Schema() }

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
	above := ""
	for name := range strings.SplitSeq(path, ".") {
		if name == "" {
			return field{}, bad("%q is not a path: a part of it is empty", path)
		}
		var err error
		if f, err = f.part(above, name); err != nil {
			return field{}, err
		}
		above = join(above, name)
	}
	return f, nil
}

func (f field) part(path, name string) (field, error) {
	switch t := deref(f.typ); t.Kind() {
	case reflect.Struct:
		next, names, ok := member(t, name)
		if !ok {
			return field{}, unknown(path, name, names)
		}
		return field{typ: next.Type, tag: next.Tag, secret: next.Tag.Get("secret")}, nil
	case reflect.Map:
		secret := f.secret
		if secret != "" {
			secret += name
		}
		return field{typ: t.Elem(), secret: secret}, checkKey(path, name)
	case reflect.Slice:
		return field{}, bad("%s is a list: set it as a whole", path)
	}
	return field{}, bad("%s is a single value without parts", path)
}

func deref(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// unknown returns an error that suggests a similar name and lists all of them.
func unknown(where, name string, names []string) error {
	guess := ""
	for _, n := range names {
		if strings.EqualFold(n, name) || len(name) > 2 && (strings.HasPrefix(n, name) || strings.HasPrefix(name, n)) {
			guess = fmt.Sprintf("; did you mean %q?", n)
		}
	}
	return bad("%s has no %q%s It has %s", cmp.Or(where, "the configuration"), name, cmp.Or(guess, "."), strings.Join(names, ", "))
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

// check reports whether value can be decoded as the field's type. Go's decoder accepts names in any
// case; here they must be exact, because a misspelled name would be stored beside the right one.
// Limits are checked by validate, on the whole configuration, because a part may rely on defaults.
func (f field) check(path string, value json.RawMessage) error {
	var parts map[string]json.RawMessage
	var list []json.RawMessage
	var err error
	t := deref(f.typ)
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		err = json.Unmarshal(value, &parts)
	case reflect.Slice:
		err = json.Unmarshal(value, &list)
	default:
		err = protocol.Unmarshal(value, reflect.New(t).Interface())
	}
	if err != nil {
		return bad("%s must be %s, not %s", path, typeText(f), format.Clip(string(value), 60))
	}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		part, err := f.part(path, name)
		if err == nil && string(parts[name]) != "null" { // null leaves the default
			err = part.check(join(path, name), parts[name])
		}
		if err != nil {
			return err
		}
	}
	for i, item := range list {
		at, part := fmt.Sprintf("%s.%d", path, i), field{typ: t.Elem()}
		if string(item) == "null" { // the decoder would make it empty
			return bad("%s must be %s, not null", at, typeText(part))
		}
		if err := part.check(at, item); err != nil {
			return err
		}
	}
	return nil
}

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
