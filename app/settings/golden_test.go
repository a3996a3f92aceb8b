package settings

import (
	"testing"

	"fyne.io/fyne/v2"

	"fairlead/app/golden"
	"fairlead/app/pagetest"
	"fairlead/gateway/protocol"
)

func TestPagesMatchGolden(t *testing.T) {
	inPage(t, &computer{dir: "/home/me"}, func(t *testing.T, p *bench) {
		m := newModels(p.view)
		pagetest.Settle()
		m.providers = []protocol.Provider{
			{ID: "anthropic", Name: "Anthropic", NeedsKey: true, KeyURL: "https://console.anthropic.com"},
			{ID: "openai", Name: "OpenAI", NeedsKey: true, KeySet: true},
			{ID: "ollama", Name: "Ollama", Local: true, BaseURL: "http://127.0.0.1:11434"},
			{ID: "operator", Name: "Built-in operator"},
		}
		m.current.ModelRef = protocol.ModelRef{Provider: "operator", ID: "built-in"}
		general := p.general()
		pagetest.Settle()
		gateway := form(p.ownGateway()...)
		computer := p.computer()
		// watched values arrive on another goroutine, which the test driver allows to use widgets
		pagetest.Settle()
		m.showProvider("anthropic")
		pagetest.Settle()
		for name, o := range map[string]fyne.CanvasObject{"general": general, "gateway": gateway, "computer": computer, "models": m.box} {
			o.Resize(fyne.NewSize(900, 600))
			golden.Markup(t, name, o)
		}
		m.showProvider("openai")
		pagetest.Settle()
		golden.Markup(t, "models-key-set", m.box)
		m.showProvider("anthropic")
		pagetest.Settle()
		for name, o := range map[string]fyne.CanvasObject{"gateway-narrow": gateway, "models-narrow": m.box} {
			o.Resize(fyne.NewSize(480, 600))
			golden.Markup(t, name, o)
		}
	})
}
