package state

import "fairlead/gateway/protocol"

// ThinkingName returns the displayed name of a thinking level; an empty level is the model's own
// default.
func ThinkingName(level string) string {
	switch level {
	case "":
		return "Model default"
	case "none":
		return "Off"
	case "xhigh":
		return "Very high"
	}
	return protocol.Capital(level)
}
