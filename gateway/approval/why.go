package approval

import (
	"fairlead/gateway/protocol"
)

func askWhy(r Request) string {
	switch {
	case r.Mode.Mode == protocol.ModeTrust && r.foreign():
		return "you trust this chat with what you write there, and somebody else began this"
	case r.Preview == nil:
		return "this machine cannot say beforehand what the call would touch"
	case r.Effect == protocol.EffectRead && r.Preview.Personal:
		return "others take part in this chat, and it reads what only your own chats are told"
	case r.Effect == protocol.EffectRead && r.Preview.Secret != "":
		return "it reads what holds keys and tokens: " + r.Preview.Secret
	case r.Effect == protocol.EffectWrite && r.Preview.Secret != "":
		return "it changes what holds keys and tokens: " + r.Preview.Secret
	case r.Effect == protocol.EffectRead:
		return "it reads outside the workspace"
	case r.Effect == protocol.EffectWrite && r.Preview.Outside:
		return "it changes a file outside the workspace"
	case r.Effect == protocol.EffectWrite:
		return "changing files is asked about"
	case r.Effect == protocol.EffectExec:
		return "running commands is asked about"
	case r.Effect == protocol.EffectNetwork:
		return "it uses the network"
	}
	return "nobody has said what this tool can do"
}
