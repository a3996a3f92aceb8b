package config

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

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
	switch path { // whose types have no tags
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
