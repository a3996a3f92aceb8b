package message

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// readers say for each list in a result whether the SDK can read one of its items.
var readers = map[string]func(item json.RawMessage) error{
	"tools":             readAs[*mcp.Tool],
	"resources":         readAs[*mcp.Resource],
	"resourceTemplates": readAs[*mcp.ResourceTemplate],
	"prompts":           readAs[*mcp.Prompt],
}

// errNull is the error about an item that is null.
var errNull = fmt.Errorf("it is null")

func readAs[T any](item json.RawMessage) error {
	if string(item) == "null" {
		return errNull
	}
	return json.Unmarshal(item, new(T))
}

// clean replaces or removes the parts of a result that the SDK cannot read, and reports whether there
// were any.
func (c Checker) clean(result map[string]json.RawMessage) (changed bool) {
	for name, read := range readers {
		if list, ok := result[name]; ok {
			changed = c.cleanList(result, name, list, read) || changed
		}
	}
	if cursor, ok := result["nextCursor"]; ok && json.Unmarshal(cursor, new(string)) != nil {
		delete(result, "nextCursor")
		c.Logf("A list has an invalid cursor: its other pages are left out")
		changed = true
	}
	for _, name := range []string{"_meta", "capabilities"} {
		if fixed, ok := withoutEmptyLists(result[name]); ok {
			result[name], changed = fixed, true
		}
	}
	if isError, ok := result["isError"]; ok && json.Unmarshal(isError, new(bool)) != nil {
		text := strings.Trim(string(isError), `"`)
		c.Logf("The field isError of an answer is %s, and not true or false", format.Line(string(isError), maxShown))
		changed = setField(result, "isError", strings.EqualFold(text, "true") || text == "1") || changed
	}
	if content, ok := result["content"]; ok {
		changed = c.cleanContent(result, content) || changed
	}
	return changed
}

// withoutEmptyLists returns an object in which lists without items, and itself if it is one, are
// objects without fields: PHP writes both the same. ok reports whether there were any.
func withoutEmptyLists(object json.RawMessage) (fixed json.RawMessage, ok bool) {
	isEmpty := func(raw json.RawMessage) bool {
		var list []json.RawMessage
		return json.Unmarshal(raw, &list) == nil && list != nil && len(list) == 0
	}
	if isEmpty(object) {
		return json.RawMessage("{}"), true
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil {
		return nil, false
	}
	for name, field := range fields {
		if isEmpty(field) {
			fields[name], ok = json.RawMessage("{}"), true
		}
	}
	if !ok {
		return nil, false
	}
	fixed, err := protocol.Marshal(fields)
	return fixed, err == nil
}

// cleanList removes the items that cannot be read.
func (c Checker) cleanList(result map[string]json.RawMessage, name string, list json.RawMessage, read func(json.RawMessage) error) bool {
	var items, good []json.RawMessage
	if json.Unmarshal(list, &items) != nil {
		return false // the whole answer is broken
	}
	for i, item := range items {
		err := read(item)
		if err == nil {
			good = append(good, item)
			continue
		}
		var named struct {
			Name string `json:"name"`
		}
		_ = json.Unmarshal(item, &named) // a number says which one it is if that fails
		c.Logf("Number %d of the %s, %q, is left out: %s", i+1, name, format.Line(named.Name, maxShown), format.Line(protocol.Problem(err), maxShown))
	}
	if len(good) == len(items) {
		return false
	}
	return setField(result, name, append([]json.RawMessage{}, good...))
}

// setField sets a part of a result.
func setField(result map[string]json.RawMessage, name string, value any) bool {
	raw, err := protocol.Marshal(value)
	if err == nil {
		result[name] = raw
	}
	return err == nil
}

// kinds name the kinds of content for people and models.
var kinds = map[string]string{"image": "picture", "audio": "sound", "resource": "file", "resource_link": "link", "text": "text"}

// cleanContent replaces the parts of a call's content that cannot be read by a text that names them.
// Content without a list is taken as its only part.
func (c Checker) cleanContent(result map[string]json.RawMessage, content json.RawMessage) (changed bool) {
	var items []json.RawMessage
	if json.Unmarshal(content, &items) != nil {
		items, changed = []json.RawMessage{content}, true
	}
	for i, item := range items {
		err := readContent(item)
		if err == nil {
			continue
		}
		changed = true
		var text string
		var part struct {
			Type string `json:"type"`
			MIME string `json:"mimeType"`
		}
		_ = json.Unmarshal(item, &part) // an unknown part has no kind
		if json.Unmarshal(item, &text) != nil || string(item) == "null" {
			kind, ok := kinds[part.Type]
			if !ok {
				kind = fmt.Sprintf("part of the kind %.40q", part.Type)
			}
			text = fmt.Sprintf("[%s, %s, left out: it cannot be read]", kind, format.Line(part.MIME, 60))
			if part.MIME == "" {
				text = fmt.Sprintf("[%s, left out: it cannot be read]", kind)
			}
			c.Logf("Part %d of an answer is left out: %s", i+1, format.Line(protocol.Problem(err), maxShown))
		}
		if raw, err := protocol.Marshal(map[string]string{"type": "text", "text": text}); err == nil {
			items[i] = raw
		}
	}
	return changed && setField(result, "content", items)
}

func readContent(item json.RawMessage) error {
	raw, err := protocol.Marshal(map[string]any{"content": []json.RawMessage{item}})
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, new(mcp.CallToolResult))
}
