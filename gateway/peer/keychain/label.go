package keychain

import "strings"

// providerNames are the names of the model providers whose IDs are not their names in lower case.
var providerNames = map[string]string{
	"openai": "OpenAI", "google": "Google Gemini", "openrouter": "OpenRouter", "lmstudio": "LM Studio", "llamacpp": "llama.cpp",
	"compatible": "model server",
}

// label is the name of a secret in the system's keychain viewer.
func label(name string) string {
	provider, isKey := strings.CutPrefix(name, "key-")
	switch {
	case !isKey || provider == "":
		return "Fairlead: " + strings.ReplaceAll(name, "-", " ")
	case providerNames[provider] != "":
		return "Fairlead: " + providerNames[provider] + " key"
	}
	return "Fairlead: " + strings.ToUpper(provider[:1]) + provider[1:] + " key"
}
