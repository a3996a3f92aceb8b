package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
)

// summary returns the most informative argument of a call, in one line of at most 200 characters.
func summary(args json.RawMessage) string {
	var tree map[string]any
	if json.Unmarshal(args, &tree) != nil {
		return ""
	}
	for one, several := range map[string]string{"path": "paths", "source": "sources"} {
		if list, ok := tree[several].([]any); ok && len(list) > 0 && (len(list) > 1 || tree[one] == nil || tree[one] == "") {
			tree[one] = list[0]
			if first, ok := list[0].(string); ok && len(list) > 1 {
				tree[one] = fmt.Sprintf("%s and %d more", first, len(list)-1)
			}
		}
	}
	if from, ok := tree["source"].(string); ok && from != "" {
		if to, ok := tree["destination"].(string); ok {
			tree["source"] = from + " to " + to
		}
	}
	for _, name := range []string{"command", "path", "pattern", "action", "source", "message", "text"} {
		s, ok := tree[name].(string)
		if !ok {
			continue
		}
		s = strings.Join(strings.Fields(s), " ")
		if r := []rune(s); len(r) > 200 {
			s = string(r[:199]) + "…"
		}
		return s
	}
	return ""
}

// maxOutput limits the stored bytes of a result, except for images: a part of one is useless. It is
// enough for the 200,000 characters that a node returns of a command's output.
const maxOutput = 600_000

// maxBrowserOutput is the same limit for operations of the file browser.
const maxBrowserOutput = 4_000

// contentArguments hold the new content of a file. The journal stores only their checksum and size.
var contentArguments = map[string]bool{"content": true, "oldString": true, "newString": true, "patch": true, "data": true, "chunk": true, "chunk_b64": true}

// storedForm returns a call in the form in which it is stored.
func storedForm(c store.Call) store.Call {
	c.Info.Args = maskedArgs(c.Info)
	if c.Info.Preview != nil {
		p := *c.Info.Preview
		p.Diff = ""
		c.Info.Preview = &p
	}
	if len(c.ResultJSON) > maxBrowserOutput && strings.HasPrefix(c.Info.Tool, protocol.FileAct) {
		// A later reader has no use for the folders and files that a person viewed.
		if part, err := protocol.Marshal(map[string]any{"truncated": true, "bytes": len(c.ResultJSON)}); err == nil {
			c.ResultJSON, c.Truncated = part, true
		}
	}
	if len(c.ResultJSON) > maxOutput && !bytes.Contains(c.ResultJSON, []byte(`"type":"image"`)) {
		part, err := protocol.Marshal(struct {
			Truncated bool   `json:"truncated"`
			Bytes     int    `json:"bytes"`
			Preview   string `json:"preview"`
		}{true, len(c.ResultJSON), tool.Shorten(string(c.ResultJSON))})
		if err == nil {
			c.ResultJSON, c.Truncated = part, true
		}
	}
	return c
}

// writeTools are the tools of GSV that write. Its nodes declare no effects.
var writeTools = map[string]bool{"Write": true, "Edit": true}

// maskedArgs returns the arguments of a call, for a write without the contents.
func maskedArgs(i protocol.CallInfo) json.RawMessage {
	args := i.Args
	writes := i.Effect == protocol.EffectWrite || i.Effect == protocol.EffectUnknown && writeTools[i.Tool]
	var tree any
	if !writes || json.Unmarshal(args, &tree) != nil {
		return args
	}
	out, err := protocol.Marshal(mask(tree, false))
	if err != nil {
		return args
	}
	return out
}

func mask(v any, content bool) any {
	switch v := v.(type) {
	case string:
		if content {
			sum, size := checksum([]byte(v))
			return map[string]any{"sha256": sum, "bytes": size}
		}
	case []any:
		for i := range v {
			v[i] = mask(v[i], content)
		}
	case map[string]any:
		for name := range v {
			v[name] = mask(v[name], contentArguments[name])
		}
	}
	return v
}
