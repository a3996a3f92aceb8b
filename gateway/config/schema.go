package config

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"fairlead/gateway/protocol"
)

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
	f := describe(path)
	f.Type, f.Secret = typeName(t), secret != ""
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
